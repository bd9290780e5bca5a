import type { Row, Snapshot } from '@tablecast/client';
import type { PlacedColumn } from './column-layout.ts';
import { PaintedRow } from './painted-row.ts';
import type { Place, Range } from './selection.ts';
import type { Seen } from './window-plan.ts';

/** Everything that a picture of the rows is made of. */
export interface Painting {
  readonly snapshot: Snapshot;
  readonly columns: readonly PlacedColumn[];
  readonly rows: Seen;
  /** Where the first of them stands within the element. The others follow it. */
  readonly top: number;
  readonly active: Place | null;
  readonly range: Range | null;
  readonly selected: string | null;
  readonly now: number;
}

/**
 * Paints the rows in view into one element. A row keeps its elements as long as it is in view, wherever it goes, and the elements
 * stand in the order of the rows, so that whoever reads the document reads them in order.
 */
export class RowPainter {
  readonly #body: HTMLElement;
  #columns: readonly PlacedColumn[] = [];
  #generation = -1;
  #top = Number.NaN;
  #shown = new Map<string, PaintedRow>();
  #free: PaintedRow[] = [];
  readonly #flashing = new Set<PaintedRow>();
  readonly #byElement = new WeakMap<Element, PaintedRow>();

  constructor(body: HTMLElement) {
    this.#body = body;
  }

  paint(painting: Painting): void {
    this.#adopt(painting.columns);
    const flashAt = painting.snapshot.generation === this.#generation ? painting.now : null;
    this.#generation = painting.snapshot.generation;
    const wanted = rowsOf(painting);
    this.#release(wanted);
    this.#begin(painting.top);
    let next = this.#body.firstElementChild;
    for (const [key, { index, row }] of wanted) {
      const painted = this.#shown.get(key) ?? this.#take(key);
      if (painted.element === next) next = next.nextElementSibling;
      else this.#body.insertBefore(painted.element, next);
      painted.place(index);
      if (painted.fill(row, flashAt)) this.#flashing.add(painted);
      painted.mark(marksOf(painting, index, row));
    }
  }

  clear(): void {
    this.#body.replaceChildren();
    this.#shown.clear();
    this.#flashing.clear();
    this.#free = [];
  }

  /** The place that an event came from. */
  placeOf(target: EventTarget | null): Place | null {
    if (!(target instanceof Node)) return null;
    const painted = this.#rowOf(target);
    const column = painted?.columnOf(target) ?? -1;
    return painted === undefined || column < 0 ? null : { index: painted.index, column, id: painted.row?.id ?? null };
  }

  cellAt({ index, column }: Place): HTMLElement | null {
    for (const painted of this.#shown.values()) if (painted.index === index) return painted.cell(column);
    return null;
  }

  /** Lets changed cells fade. Whether anything is left of them. */
  fade(now: number): boolean {
    for (const painted of this.#flashing) if (!painted.fade(now)) this.#flashing.delete(painted);
    return this.#flashing.size > 0;
  }

  /** One length for all rows: a style of each that changes with every step of a scroll costs ten times the time of all the rest. */
  #begin(top: number): void {
    if (top === this.#top) return;
    this.#top = top;
    this.#body.style.paddingBlockStart = `${String(top)}px`;
  }

  #rowOf(node: Node): PaintedRow | undefined {
    const element = (node instanceof Element ? node : node.parentElement)?.closest('tr') ?? null;
    return element === null ? undefined : this.#byElement.get(element);
  }

  /** Elements made for other columns are of no use any more. */
  #adopt(columns: readonly PlacedColumn[]): void {
    if (columns === this.#columns) return;
    this.#columns = columns;
    this.clear();
  }

  #release(wanted: ReadonlyMap<string, unknown>): void {
    for (const [key, painted] of this.#shown) {
      if (wanted.has(key)) continue;
      this.#shown.delete(key);
      painted.forget();
      this.#flashing.delete(painted);
      painted.element.remove();
      this.#free.push(painted);
    }
  }

  #take(key: string): PaintedRow {
    const painted = this.#free.pop() ?? new PaintedRow(this.#columns);
    this.#byElement.set(painted.element, painted);
    this.#shown.set(key, painted);
    return painted;
  }
}

/** The rows to paint by their ids, and by their places those that are not here yet. */
function rowsOf({ snapshot, rows: { from, to } }: Painting): Map<string, { readonly index: number; readonly row: Row | null }> {
  const wanted = new Map<string, { readonly index: number; readonly row: Row | null }>();
  for (let index = from; index < to; index += 1) {
    const row = snapshot.rows[index - snapshot.offset] ?? null;
    wanted.set(row === null ? `waiting ${String(index)}` : `row ${row.id}`, { index, row });
  }
  return wanted;
}

const NO_COLUMNS = { left: -1, right: -1 };

function marksOf({ active, range, selected }: Painting, index: number, row: Row | null) {
  const chosen = range !== null && index >= range.top && index <= range.bottom ? range : NO_COLUMNS;
  return {
    selected: row !== null && row.id === selected,
    active: active?.index === index ? active.column : -1,
    left: chosen.left,
    right: chosen.right,
  };
}
