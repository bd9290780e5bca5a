import type { ElementRef } from '@angular/core';
import {
  afterNextRender, afterRenderEffect, Component, computed, DestroyRef, effect, inject, input, linkedSignal, model, signal, untracked, viewChild,
} from '@angular/core';
import type { Condition, Snapshot, View } from '@tablecast/client';
import { countOf, countText, timeText } from './cell-text.ts';
import { CellCopier } from './cell-copier.ts';
import { ColumnPanel } from './column-panel.ts';
import { ColumnsPanel } from './columns-panel.ts';
import { ExportPanel } from './export-panel.ts';
import { injectFillProgress } from './fill-progress.ts';
import { partAbout, partsOf, partText, withoutPart } from './filtering.ts';
import { GridColumns } from './grid-columns.ts';
import { GridCursor, idAt } from './grid-cursor.ts';
import { gridKey } from './grid-keys.ts';
import { GridSide } from './grid-side.ts';
import type { GridView } from './grid-view.ts';
import { isNarrowed, PLAIN_VIEW } from './grid-view.ts';
import { GridVoice } from './grid-voice.ts';
import { injectLiveTable } from './inject-live-table.ts';
import { RangeTaps } from './range-taps.ts';
import { RowLink } from './row-link.ts';
import { RowPanel } from './row-panel.ts';
import type { Look } from './rows-pane.ts';
import { RowsPane } from './rows-pane.ts';
import { HEADER } from './selection.ts';
import { nextSort, sortMark } from './sorting.ts';
import { injectConnection } from './table-hub.ts';
import { DRAWINGS, pictureOf } from './table-picture.ts';
import type { Seen } from './window-plan.ts';
import { firstWindow, planWindow, rangeText } from './window-plan.ts';

const SEARCH_AFTER_MS = 200;
const FIRST_ROWS = 30;

/**
 * One live table as a grid. Only the rows in view are subscribed to; sorting, filtering and searching are the server's. Its look is
 * in `live-table.css`, a plain file that the page links to, so that it also shows under a content security policy without inline styles.
 */
@Component({
  selector: 'live-table',
  imports: [ColumnPanel, ColumnsPanel, ExportPanel, RowPanel],
  templateUrl: './live-table-grid.html',
})
export class LiveTableGrid {
  readonly table = input.required<string>();
  readonly view = model<GridView>(PLAIN_VIEW);
  /** The id of the selected row. */
  readonly row = model<string | null>(null);
  /** Under which name the viewer's columns are kept in this browser. */
  readonly storageKey = input<string | null>(null);

  protected readonly scroll = viewChild.required<ElementRef<HTMLElement>>('scroll');
  protected readonly body = viewChild.required<ElementRef<HTMLElement>>('body');
  protected readonly grid = viewChild.required<ElementRef<HTMLElement>>('grid');
  protected readonly searchBox = viewChild.required<ElementRef<HTMLInputElement>>('search');
  protected readonly aside = viewChild<ElementRef<HTMLElement>>('aside');

  readonly #live = injectLiveTable({
    table: this.table,
    view: this.view,
    pageSize: () => firstWindow(FIRST_ROWS).size,
    arriving: () => { this.#pane?.request(); },
  });
  readonly #connection = injectConnection();
  readonly #key = computed(() => JSON.stringify([this.table(), this.view()]));
  /** The view that the snapshot is of: the last one stays until the rows of the next are there. */
  readonly #shownKey = linkedSignal<{ key: string; fresh: boolean }, string>({
    source: () => ({ key: this.#key(), fresh: this.fresh() }),
    computation: ({ key, fresh }, before) => (fresh ? key : (before?.value ?? key)),
  });
  readonly #shownView = computed(() => (JSON.parse(this.#shownKey()) as [string, GridView])[1]);
  readonly #deeds = {
    details: () => { this.details(); },
    select: () => { this.#select(this.cursor.active()?.id ?? null); },
    escape: () => { this.cursor.narrow(); },
    search: () => { this.searchBox().nativeElement.focus(); },
    menu: () => { this.#menu(); },
  };
  #pane: RowsPane | null = null;
  #touched = false;

  protected readonly cursor = new GridCursor();
  protected readonly taps = new RangeTaps(this.cursor);
  protected readonly side = new GridSide(this.table, this.aside);
  /** Since when the rows stand still; null while they tick. */
  protected readonly pausedAt = linkedSignal<string, number | null>({ source: this.table, computation: () => null });
  protected readonly voice = new GridVoice();
  protected readonly link = new RowLink(this.row, (row) => this.#live.find(row), (index, row) => { this.#showAt(index, row); });
  protected readonly seen = signal<Seen & { readonly total: number }>({ from: 0, to: 0, total: 0 }, { equal: sameSeen });

  protected readonly fresh = computed(() => this.#live.state()?.fresh ?? false);
  /** While it is paused, the rows of a window stay as they came; another window is shown as it is when one gets there. */
  protected readonly snapshot = linkedSignal<{ snapshot: Snapshot | null; paused: boolean; key: string }, Snapshot | null>({
    source: () => ({ snapshot: this.#live.state()?.snapshot ?? null, paused: this.pausedAt() !== null, key: this.#shownKey() }),
    computation: ({ snapshot, paused, key }, before) =>
      paused && before?.source.key === key && before.value?.offset === snapshot?.offset ? before.value : snapshot,
  });
  protected readonly problem = computed(() => {
    const state = this.#live.state();
    return state?.snapshot === null ? null : (state?.problem ?? null);
  });
  protected readonly picture = computed(() => pictureOf(this.#live.state(), this.#connection(), this.#shownView()));
  protected readonly progress = injectFillProgress(() => this.picture()?.kind === 'filling');
  /** There are rows, and they are of the view that is wanted. */
  readonly #painted = computed(() => this.seen().total > 0 && this.#shownKey() === this.#key());
  protected readonly narrowed = computed(() => isNarrowed(this.view()));

  protected readonly columns = new GridColumns(this.snapshot, () => this.storageKey() ?? `tablecast.columns.${this.table()}`);
  protected readonly heads = computed(() =>
    this.columns.placed().map((column) => ({
      ...column,
      ...sortMark(this.view().sort, column.name),
      filtered: partAbout(this.view().filter, column.name) !== null,
    })),
  );
  protected readonly chips = computed(() => partsOf(this.view().filter).map((part) => ({ part, text: partText(part) })));
  protected readonly panelColumn = computed(() => {
    const panel = this.side.panel();
    return panel?.kind === 'column' ? (this.columns.placed().find(({ name }) => name === panel.column) ?? null) : null;
  });
  protected readonly exported = computed<View>(() => ({ table: this.table(), ...this.view() }));
  protected readonly range = computed(() => {
    const total = this.snapshot()?.total;
    if (total === undefined) return this.picture()?.kind === 'waiting' ? 'waiting for rows' : '';
    return rangeText(this.seen().total === 0 ? { from: 0, to: FIRST_ROWS } : this.seen(), total);
  });
  /** The grid itself is a stop of the Tab key only while none of its cells is. */
  protected readonly entry = computed(() => {
    const active = this.cursor.active();
    if (active?.index === HEADER) return -1;
    return active !== null && active.index >= this.seen().from && active.index < this.seen().to ? -1 : 0;
  });
  protected readonly copier = new CellCopier(this.cursor, this.snapshot, this.columns.placed, this.voice);
  /** How far the rows can be trusted to be the newest: they are written in quieter ink while they cannot. */
  protected readonly phase = computed(() => this.#connection()?.phase ?? null);
  protected readonly drawings = DRAWINGS;
  protected readonly countText = countText;
  protected readonly timeText = timeText;
  #searching: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    afterNextRender(() => { this.#mount(); });
    effect(() => {
      const look = this.#look();
      this.#pane?.show(look);
    });
    effect(() => {
      this.table();
      untracked(() => { this.#forget(); });
    });
    effect(() => { this.#tell(); });
    effect(() => {
      this.row();
      if (this.#painted()) untracked(() => { void this.link.bring(); });
    });
    afterRenderEffect({ write: () => { this.columns.layOut(this.grid().nativeElement); } });
    inject(DestroyRef).onDestroy(() => {
      clearTimeout(this.#searching);
      this.voice.forget();
      this.#pane?.destroy();
    });
  }

  /** Puts this row at the top, and says so to those who cannot see it. */
  protected show(index: number): void {
    const { total } = this.seen();
    const at = Math.max(0, Math.min(index, total - 1));
    this.#pane?.goTo(at);
    this.voice.say(`from row ${countText(at + 1)}`);
  }

  protected turn(pages: number): void {
    this.show(this.seen().from + pages * (this.#pane?.page ?? 1));
  }

  protected goToRow(event: Event, field: HTMLInputElement): void {
    event.preventDefault();
    const [snapshot, row] = [this.snapshot(), countOf(field.value)];
    if (row === null && field.value !== '') this.voice.show(`Write the number of a row, such as ${countText(1000)}.`);
    if (snapshot === null || snapshot.total === 0 || row === null) return;
    const at = Math.max(0, Math.min(row, snapshot.total) - 1);
    this.cursor.set({ index: at, column: this.cursor.active()?.column ?? 0, id: idAt(snapshot, at) });
    field.value = '';
    this.#pane?.goTo(at);
    this.#pane?.focus();
  }

  protected refresh(): void {
    this.#live.refresh();
  }

  protected pause(): void {
    this.pausedAt.update((at) => (at === null ? Date.now() : null));
    this.voice.say(this.pausedAt() === null ? 'resumed' : 'paused');
  }

  protected find(text: string, at: 'once' | 'soon'): void {
    clearTimeout(this.#searching);
    const apply = (): void => { if (text !== this.view().search) this.view.update((view) => ({ ...view, search: text })); };
    if (at === 'once') apply();
    else this.#searching = setTimeout(apply, SEARCH_AFTER_MS);
  }

  protected sortBy(column: string, beside: boolean): void {
    this.view.update((view) => ({ ...view, sort: nextSort(view.sort, column, beside) }));
    const { aria } = sortMark(this.view().sort, column);
    this.voice.say(aria === 'none' ? `not sorted by ${column}` : `sorted by ${column}, ${aria}`);
  }

  protected unfilter(part: Condition): void {
    this.view.update((view) => ({ ...view, filter: withoutPart(view.filter, part) }));
  }

  protected showAll(): void {
    this.view.update((view) => ({ ...view, filter: null, search: '' }));
  }

  protected plain(): void {
    this.view.set(PLAIN_VIEW);
    this.refresh();
  }

  protected closePanel(): void {
    this.side.close(() => { this.#focus(); });
  }

  /** A finger may be about to scroll: what it touched is chosen once that was a tap. */
  protected touch(event: PointerEvent): void {
    this.#touched = event.pointerType === 'touch';
    if (!this.#touched) this.choose(event);
  }

  protected tap(event: MouseEvent): void {
    if (this.#touched) this.choose(event);
  }

  protected choose(event: MouseEvent): void {
    const place = this.#pane?.placeOf(event.target) ?? null;
    if (place === null || event.button !== 0) return;
    const extending = this.taps.tapped() || event.shiftKey;
    this.cursor.set(place, extending);
    if (place.id !== null && !extending) this.#choose(place.id);
    this.#pane?.focus();
  }

  protected drag(event: PointerEvent): void {
    if (event.buttons !== 1 || event.pointerType !== 'mouse') return;
    const place = this.#pane?.placeOf(event.target) ?? null;
    if (place !== null) this.cursor.set(place, true);
  }

  /** The grid as a whole got the focus, and hands it on to the active cell. */
  protected enter(event: FocusEvent): void {
    if (event.target !== this.scroll().nativeElement || this.snapshot() === null || this.#pane?.handing) return;
    const active = this.cursor.active();
    const snapshot = this.snapshot();
    if (active === null && snapshot !== null) this.cursor.set({ index: this.seen().from, column: 0, id: idAt(snapshot, this.seen().from) });
    const place = this.cursor.active();
    if (place !== null) this.#pane?.reveal(place);
    this.#pane?.focus();
  }

  /** By single taps from now on, in the rows: the panel makes room for them. */
  protected chooseCells(): void {
    this.taps.begin();
    this.closePanel();
  }

  protected press(event: KeyboardEvent): void {
    const key = gridKey(event, this.#pane?.page ?? 1);
    const ofRows = key?.does === 'details' || key?.does === 'select';
    const ofAButton = this.cursor.active()?.index === HEADER || event.target instanceof HTMLButtonElement;
    if (key === null || (ofRows && ofAButton)) return;
    event.preventDefault();
    if (key.does === 'go') this.#go(key.rows, key.columns, key.extends);
    else this.#deeds[key.does]();
  }

  protected details(): void {
    const id = this.cursor.active()?.id ?? null;
    if (id !== null) this.#choose(id);
    this.side.open({ kind: 'row' });
  }

  #forget(): void {
    clearTimeout(this.#searching);
    this.cursor.clear();
    this.taps.end();
    this.voice.forget();
  }

  /** Once for each view that is shown, and for each picture. */
  #tell(): void {
    const [picture, { filter, search }] = [this.picture(), this.#shownView()];
    const settled = this.fresh() && this.#shownKey() === this.#key();
    if (picture === null ? !settled : picture.kind === 'waiting') return;
    const name = JSON.stringify([filter, search]);
    untracked(() => { this.voice.tell({ name, picture, narrowed: this.narrowed(), total: this.snapshot()?.total ?? 0 }); });
  }

  #mount(): void {
    this.#pane = new RowsPane(this.scroll().nativeElement, this.body().nativeElement, {
      look: () => untracked(() => this.#look()),
      seen: (seen, total) => { this.#saw(seen, total); },
      shifted: (snapshot, shift) => { this.cursor.follow(snapshot, shift); },
    });
    this.#pane.request();
  }

  #look(): Look | null {
    const [snapshot, columns] = [this.snapshot(), this.columns.placed()];
    const { active, range } = this.cursor;
    const look = { name: this.#shownKey(), columns, active: active(), range: range(), selected: this.row() };
    return snapshot === null || columns.length === 0 ? null : { ...look, snapshot };
  }

  /** The window follows what is seen, but not the last view's scroll before the rows of the next are there. */
  #saw(seen: Seen, total: number): void {
    this.seen.set({ ...seen, total });
    const viewport = this.#live.state()?.viewport;
    if (viewport === undefined || this.#shownKey() !== this.#key()) return;
    const wanted = planWindow(seen, total, viewport);
    if (wanted !== viewport) this.#live.move(wanted.offset, wanted.size);
  }

  #go(rows: number, columns: number, extending: boolean): void {
    const snapshot = this.snapshot();
    if (snapshot === null) return;
    const place = this.cursor.step(rows, columns, snapshot, this.columns.placed().length, extending);
    this.#pane?.reveal(place);
    this.#focus();
  }

  #focus(): void {
    const active = this.cursor.active();
    if (active === null) return this.scroll().nativeElement.focus();
    if (active.index !== HEADER) return this.#pane?.focus();
    const name = this.columns.placed()[active.column]?.name ?? '';
    const head = this.grid().nativeElement.querySelector<HTMLElement>(`th[data-column="${CSS.escape(name)}"]`);
    head?.querySelector('button')?.focus();
  }

  #select(id: string | null): void {
    if (id !== null) this.#choose(this.row() === id ? null : id);
  }

  #choose(id: string | null): void {
    this.link.know(id);
    this.row.set(id);
  }

  #showAt(index: number, row: string): void {
    this.cursor.set({ index, column: 0, id: row });
    this.#pane?.centre(index);
    this.voice.say(`from the link: row ${countText(index + 1)}`);
  }

  #menu(): void {
    const column = this.columns.placed()[this.cursor.active()?.column ?? 0];
    if (column !== undefined) this.side.open({ kind: 'column', column: column.name });
  }
}

function sameSeen(left: Seen & { total: number }, right: Seen & { total: number }): boolean {
  return left.from === right.from && left.to === right.to && left.total === right.total;
}
