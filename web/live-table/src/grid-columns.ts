import type { Signal } from '@angular/core';
import { computed, DOCUMENT, inject, linkedSignal, untracked } from '@angular/core';
import type { Column, Snapshot } from '@tablecast/client';
import type { ColumnLayout } from './column-layout.ts';
import { naturalWidths, placed, withPlaceOf, withWidth } from './column-layout.ts';
import { LayoutStore } from './layout-store.ts';
import { textWidth } from './text-width.ts';

const NONE: readonly Column[] = [];

/** The columns of a grid as its viewer wants them. Made where `inject()` may be called. */
export class GridColumns {
  readonly #store = inject(LayoutStore);
  readonly #document = inject(DOCUMENT);
  readonly #snapshot: Signal<Snapshot | null>;
  readonly #storedAs: () => string;

  /** The same object as long as the columns are the same, whatever view they come with. */
  readonly all = computed(() => this.#snapshot()?.columns ?? NONE, { equal: sameColumns });
  readonly layout = linkedSignal<ColumnLayout>(() => this.#store.read(this.#storedAs()));
  readonly #hasRows = computed(() => (this.#snapshot()?.rows.length ?? 0) > 0);
  /** Found once for the columns and their first rows: columns that grow and shrink with every tick would be no help. */
  readonly #widths = linkedSignal<{ columns: readonly Column[]; rows: boolean }, Readonly<Record<string, number>>>({
    source: () => ({ columns: this.all(), rows: this.#hasRows() }),
    computation: ({ columns, rows }, before) => {
      if (before?.source.columns === columns && (before.source.rows || !rows)) return before.value;
      const snapshot = untracked(this.#snapshot);
      return snapshot === null ? {} : naturalWidths(snapshot, textWidth(this.#document));
    },
  });
  /** Those that are shown, in order. */
  readonly placed = computed(() => placed(this.all(), this.layout(), this.#widths()));

  constructor(snapshot: Signal<Snapshot | null>, storedAs: () => string) {
    this.#snapshot = snapshot;
    this.#storedAs = storedAs;
  }

  keep(layout: ColumnLayout): void {
    this.layout.set(layout);
    this.#store.keep(this.#storedAs(), layout);
  }

  /** Follows the pointer that has taken hold of the end of a column. */
  resize(event: PointerEvent, column: string, width: number): void {
    event.preventDefault();
    event.stopPropagation();
    const [grip, from] = [event.target as HTMLElement, event.clientX];
    const move = (to: PointerEvent): void => { this.keep(withWidth(this.layout(), column, width + to.clientX - from)); };
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener('pointermove', move);
    grip.addEventListener('lostpointercapture', () => { grip.removeEventListener('pointermove', move); }, { once: true });
  }

  /** Puts the column that is dragged where another one stands. */
  drop(event: DragEvent, column: string): void {
    const dragged = event.dataTransfer?.getData('text/plain') ?? '';
    if (!this.placed().some(({ name }) => name === dragged)) return;
    event.preventDefault();
    this.keep(withPlaceOf(this.layout(), this.all(), dragged, column));
  }

  /** Columns are given through the style object, which every content security policy allows. */
  layOut(grid: HTMLElement): void {
    const columns = this.placed();
    const px = (width: number): string => `${String(width)}px`;
    grid.style.setProperty('--live-table-tracks', columns.map(({ width }) => px(width)).join(' '));
    grid.style.setProperty('--live-table-width', px(columns.reduce((sum, { width }) => sum + width, 0)));
    for (const [index, head] of [...grid.querySelectorAll('th')].entries()) {
      const at = columns[index]?.pinnedAt ?? null;
      head.style.insetInlineStart = at === null ? '' : px(at);
    }
  }
}

function sameColumns(left: readonly Column[], right: readonly Column[]): boolean {
  return left.length === right.length && left.every(({ name, type }, index) => right[index]?.name === name && right[index].type === type);
}
