import { computed, DestroyRef, DOCUMENT, effect, inject, Service, signal, untracked } from '@angular/core';
import type { Catalogue } from '@tablecast/client';
import { ViewerStorage } from '@tablecast/live-table';
import { Session } from '../session.ts';
import { Overview } from '../status/overview.ts';
import type { Box, Direction, Growth, Layout, Panel } from './layout.ts';
import { boxesOf, changed, closed, columnsResized, exchanged, grown, layoutOf, moved, newestId, panelsOf, readLayout, rowsResized, split } from './layout.ts';
import type { PanelView } from './panel-view.ts';
import { PLAIN } from './panel-view.ts';
import { isNamedByPlace } from './record.ts';
import type { Destination } from './destination.ts';
import { fragmentOf, destinationOf, readDestination } from './destination.ts';

const STORED_AS = 'tablecast.layout';
const NARROW = '(max-width: 45rem)';
const FIRST_COLUMNS = [
  ['users_ui', 'accounts_ui'],
  ['final_ui', 'user_account', 'dead_letters'],
];
const FIRST_TABLES = 4;
/** The id of a panel that stands alone and is none of the layout. */
const LINKED = 0;

/** The panels of the page: their layout, kept for this viewer, and the one that stands alone while a link or a person wants it so. */
@Service()
export class Workspace {
  readonly #window = inject(DOCUMENT).defaultView;
  readonly #storage = new ViewerStorage(() => this.#window?.localStorage);
  readonly #catalogue = inject(Session).catalogue;
  readonly #kept = signal<Layout | null>(readLayout(this.#storage.read(STORED_AS)));
  readonly #solo = signal<Panel | null>(null);
  readonly #rows = signal<ReadonlyMap<number, string | null>>(new Map());
  readonly #wantedActive = signal(1);
  readonly #narrow = signal(false);

  /** Null until it is known which tables there are. */
  readonly layout = computed(() => this.#kept() ?? firstLayout(this.#catalogue()));
  /** The panel that stands alone; its place is in the address bar. */
  readonly solo = this.#solo.asReadonly();
  /** One panel at a time, as on a phone. */
  readonly narrow = this.#narrow.asReadonly();
  readonly boxes = computed<readonly Box[]>(() => {
    const alone = this.#solo() ?? (this.#narrow() ? this.active() : null);
    if (alone !== null) return [{ panel: alone, left: 0, top: 0, width: 100, height: 100 }];
    return boxesOf(this.layout() ?? []);
  });
  /** The panel that the list of tables and the shortcuts are about. */
  readonly active = computed<Panel | null>(() => {
    const panels = panelsOf(this.layout() ?? []);
    return this.#solo() ?? panels.find(({ id }) => id === this.#wantedActive()) ?? panels[0] ?? null;
  });

  constructor() {
    this.followAddress();
    this.#followWidth();
    this.#followTopics();
  }

  /** The address bar changed: by hand, or by going back and forth. */
  followAddress(): void {
    const destination = readDestination(this.#window?.location.hash ?? '');
    if (destination === null) return this.#solo.set(null);
    const solo = this.#solo();
    const id = solo?.shows === destination.shows ? solo.id : LINKED;
    this.#solo.set({ id, shows: destination.shows, view: destination.view, share: 1 });
    this.#note(id, destination.row);
  }

  activate(id: number): void {
    if (this.#solo() === null) this.#wantedActive.set(id);
  }

  /** Shows it in the panel that has it already, or else in the active one. */
  open(shows: string): void {
    const solo = this.#solo();
    if (solo !== null) return this.#standAlone({ id: LINKED, shows, view: PLAIN, share: 1 });
    const has = panelsOf(this.layout() ?? []).find((panel) => panel.shows === shows);
    const active = this.active();
    if (has !== undefined) this.#wantedActive.set(has.id);
    else if (active !== null) {
      this.#note(active.id, null);
      this.#keep((layout) => changed(layout, active.id, { shows, view: PLAIN }));
    }
  }

  changeView(id: number, view: PanelView): void {
    const solo = this.#solo();
    if (solo?.id === id) {
      this.#solo.set({ ...solo, view });
      this.#write('replace');
    }
    if (panelsOf(this.layout() ?? []).some((panel) => panel.id === id)) this.#keep((layout) => changed(layout, id, { view }));
  }

  row(id: number): string | null {
    return this.#rows().get(id) ?? null;
  }

  chooseRow(id: number, row: string | null): void {
    this.#note(id, row);
    if (this.#solo()?.id === id) this.#write('replace');
  }

  /** Alone or, if it stands alone, with the others again. */
  toggleSolo(id: number): void {
    if (this.#solo() !== null) return this.showAll();
    const panel = panelsOf(this.layout() ?? []).find((each) => each.id === id);
    if (panel !== undefined) this.#standAlone(panel);
  }

  showAll(): void {
    this.#solo.set(null);
    this.#write('push');
  }

  split(id: number, where: 'right' | 'below'): void {
    this.#keep((layout) => split(layout, id, where));
    this.#wantedActive.set(newestId(this.layout() ?? []));
  }

  move(id: number, direction: Direction): void {
    this.#keep((layout) => moved(layout, id, direction));
    this.#wantedActive.set(id);
  }

  /** Each where the other was. */
  exchange(id: number, other: number): void {
    this.#keep((layout) => exchanged(layout, id, other));
    this.#wantedActive.set(id);
  }

  close(id: number): void {
    if (this.#solo() !== null) return this.showAll();
    this.#keep((layout) => closed(layout, id));
  }

  /** The panel after or before the active one. */
  step(by: number): void {
    const panels = panelsOf(this.layout() ?? []);
    const index = panels.findIndex(({ id }) => id === this.active()?.id);
    const next = panels.at((index + by) % panels.length);
    if (next !== undefined) this.activate(next.id);
  }

  resizeColumns(index: number, at: number): void {
    this.#keep((layout) => columnsResized(layout, index, at));
  }

  resizeRows(column: number, index: number, at: number): void {
    this.#keep((layout) => rowsResized(layout, column, index, at));
  }

  /** By steps, for whoever does not drag its edges. */
  grow(id: number, growth: Growth): void {
    this.#keep((layout) => grown(layout, id, growth));
  }

  /** Whether there is another panel beside this one, and one above or below it. */
  neighbours(id: number): { readonly beside: boolean; readonly above: boolean } {
    const layout = this.layout() ?? [];
    const column = layout.find(({ panels }) => panels.some((panel) => panel.id === id));
    return { beside: layout.length > 1, above: (column?.panels.length ?? 0) > 1 };
  }

  /** As at the first visit. */
  reset(): void {
    this.#kept.set(null);
    this.#storage.forget(STORED_AS);
    if (this.#solo() !== null) this.showAll();
  }

  /** A link that shows what this panel shows, to whoever has the key. */
  linkTo({ id, shows, view }: Panel): string {
    const { origin = '', pathname = '/' } = this.#window?.location ?? {};
    return `${origin}${pathname}#${fragmentOf(destinationOf(shows, view, this.row(id)))}`;
  }

  #standAlone(panel: Panel): void {
    if (panel.id === LINKED) this.#note(LINKED, null);
    this.#solo.set(panel);
    this.#write('push');
  }

  #note(id: number, row: string | null): void {
    this.#rows.update((rows) => new Map(rows).set(id, row));
  }

  #keep(change: (layout: Layout) => Layout): void {
    const layout = this.layout();
    if (layout === null) return;
    const next = change(layout);
    if (next === layout) return;
    this.#kept.set(next);
    this.#storage.keep(STORED_AS, JSON.stringify(next));
  }

  #write(how: 'push' | 'replace'): void {
    if (this.#window === null) return;
    const { history, location } = this.#window;
    const solo = this.#solo();
    const destination: Destination | null = solo && destinationOf(solo.shows, solo.view, this.row(solo.id));
    const url = `${location.pathname}${location.search}${destination === null ? '' : `#${fragmentOf(destination)}`}`;
    if (how === 'push') history.pushState(null, '', url);
    else history.replaceState(history.state, '', url);
  }

  /** Rows that were chosen are chosen no more when a swap has given their names to other records. */
  #followTopics(): void {
    const overview = inject(Overview);
    const topics = computed(() => JSON.stringify(overview.row()?.topics ?? null));
    let known = 'null';
    effect(() => {
      const now = topics();
      if (now === 'null') return;
      if (known !== 'null' && known !== now) untracked(() => { this.#forgetRecords(); });
      known = now;
    });
  }

  #forgetRecords(): void {
    const solo = this.#solo();
    const panels = [...panelsOf(this.layout() ?? []), ...(solo === null ? [] : [solo])];
    for (const { id, shows } of panels) {
      const row = this.row(id);
      if (row !== null && isNamedByPlace(shows, row)) this.chooseRow(id, null);
    }
  }

  #followWidth(): void {
    const query = this.#window?.matchMedia(NARROW);
    if (query === undefined) return;
    const follow = (): void => { this.#narrow.set(query.matches); };
    query.addEventListener('change', follow);
    inject(DestroyRef).onDestroy(() => { query.removeEventListener('change', follow); });
    follow();
  }
}

/** The tables of the first visit, as far as the server has them, else its first ones. */
function firstLayout(catalogue: Catalogue | null): Layout | null {
  if (catalogue === null) return null;
  const names = catalogue.tables.map(({ name }) => name);
  const columns = FIRST_COLUMNS.map((tables) => tables.filter((table) => names.includes(table)));
  if (columns.some((tables) => tables.length > 0)) return layoutOf(columns);
  const first = names.slice(0, FIRST_TABLES);
  return first.length === 0 ? null : layoutOf([first.filter((_, index) => index % 2 === 0), first.filter((_, index) => index % 2 === 1)]);
}
