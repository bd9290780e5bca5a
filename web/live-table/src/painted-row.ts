import type { Cell, Row } from '@tablecast/client';
import { cellText, isNumber } from './cell-text.ts';
import type { PlacedColumn } from './column-layout.ts';

/** What of a row is marked. */
export interface RowMarks {
  readonly selected: boolean;
  /** The column of the active cell, or -1. */
  readonly active: number;
  /** The columns of the chosen range, or -1. */
  readonly left: number;
  readonly right: number;
}

const BRIGHT_MS = 350;
const FADED_MS = 900;
/** What a cell shows is of another row, and is written anew whatever comes. */
const FOREIGN = Symbol('foreign');

interface PaintedCell {
  readonly element: HTMLTableCellElement;
  readonly text: Text;
  readonly column: PlacedColumn;
  readonly base: string;
  value: Cell | undefined | typeof FOREIGN;
  look: string;
  flash: string;
  /** When it last changed before somebody's eyes, or null once that is over. */
  flashedAt: number | null;
  marks: string;
  classes: string;
}

/** One row of elements. It is given to a row, and later to another; only what differs is written. */
export class PaintedRow {
  readonly element = document.createElement('tr');
  readonly #cells: readonly PaintedCell[];
  /** Undefined as long as it is given to no row at all. */
  #row: Row | null | undefined;
  #index = -1;
  #selected = false;

  constructor(columns: readonly PlacedColumn[]) {
    this.element.setAttribute('role', 'row');
    this.#cells = columns.map((column, index) => paintedCell(column, index));
    this.element.append(...this.#cells.map(({ element }) => element));
  }

  get index(): number {
    return this.#index;
  }

  get row(): Row | null {
    return this.#row ?? null;
  }

  cell(column: number): HTMLElement | null {
    return this.#cells[column]?.element ?? null;
  }

  columnOf(target: Node): number {
    return this.#cells.findIndex(({ element }) => element.contains(target));
  }

  /** Gives it up, so that what comes next is no change of what was here. */
  forget(): void {
    this.#row = undefined;
    for (const cell of this.#cells) {
      cell.value = FOREIGN;
      cell.flash = '';
      cell.flashedAt = null;
    }
  }

  place(index: number): void {
    if (index === this.#index) return;
    this.#index = index;
    this.element.setAttribute('aria-rowindex', String(index + 2));
    this.element.classList.toggle('live-table-odd', index % 2 === 1);
  }

  /** Null: the row is not here yet. A cell that differs from what was shown of the same row flashes from `now` on, if there is one. Whether any may. */
  fill(row: Row | null, now: number | null): boolean {
    const before = this.#row;
    if (row === before) return false;
    this.#row = row;
    if (before === undefined || row?.id !== before?.id) this.#name(row);
    const flashedAt = before !== undefined && row?.id === before?.id ? now : null;
    for (const cell of this.#cells) {
      const value = valueOf(row, cell.column);
      if (!Object.is(value, cell.value)) write(cell, value, flashedAt);
    }
    return flashedAt !== null;
  }

  #name(row: Row | null): void {
    this.element.classList.toggle('live-table-waiting', row === null);
    if (row === null) this.element.removeAttribute('data-row-id');
    else this.element.dataset['rowId'] = row.id;
  }

  mark({ selected, active, left, right }: RowMarks): void {
    if (selected !== this.#selected) {
      this.#selected = selected;
      this.element.setAttribute('aria-selected', String(selected));
      this.element.classList.toggle('live-table-selected', selected);
    }
    for (const [index, cell] of this.#cells.entries()) {
      const marks = `${index >= left && index <= right ? ' live-table-chosen' : ''}${index === active ? ' live-table-active' : ''}`;
      if (marks === cell.marks) continue;
      cell.marks = marks;
      cell.element.tabIndex = index === active ? 0 : -1;
      dress(cell);
    }
  }

  /** Lets what flashed fade. Whether anything is left of it. */
  fade(now: number): boolean {
    let left = false;
    for (const cell of this.#cells) {
      if (cell.flashedAt === null) continue;
      const age = now - cell.flashedAt;
      if (age >= FADED_MS) cell.flashedAt = null;
      else left = true;
      cell.flash = flashOf(age);
      dress(cell);
    }
    return left;
  }
}

function paintedCell(column: PlacedColumn, index: number): PaintedCell {
  const element = document.createElement('td');
  const text = document.createTextNode('');
  element.append(text);
  element.setAttribute('role', 'gridcell');
  element.setAttribute('aria-colindex', String(index + 1));
  element.tabIndex = -1;
  if (column.pinnedAt !== null) element.style.insetInlineStart = `${String(column.pinnedAt)}px`;
  const base = `${isNumber(column) ? ' live-table-number' : ''}${column.pinnedAt === null ? '' : ' live-table-pinned'}`;
  const cell: PaintedCell = { element, text, column, base, value: undefined, look: '', flash: '', flashedAt: null, marks: '', classes: '' };
  dress(cell);
  return cell;
}

/** Nothing at all where the row is not here yet. */
function valueOf(row: Row | null, { cell }: PlacedColumn): Cell | undefined {
  return row === null ? undefined : (row.cells[cell] ?? null);
}

function write(cell: PaintedCell, value: Cell | undefined, flashedAt: number | null): void {
  cell.value = value;
  const shown = value === undefined ? null : cellText(cell.column, value);
  cell.text.data = shown?.text ?? '';
  const look = shown === null || shown.look === 'value' ? '' : ` live-table-${shown.look}`;
  if (look !== cell.look) {
    cell.look = look;
    const words = shown?.words ?? null;
    if (words === null) cell.element.removeAttribute('aria-label');
    else cell.element.setAttribute('aria-label', words);
  }
  cell.flashedAt = flashedAt;
  cell.flash = flashedAt === null ? '' : flashOf(0);
  dress(cell);
}

/** In steps, by class: an animation of many cells costs a repaint of each of them in every frame. */
function flashOf(age: number): string {
  if (age >= FADED_MS) return '';
  return age < BRIGHT_MS ? ' live-table-flash' : ' live-table-fading';
}

function dress(cell: PaintedCell): void {
  const classes = `${cell.base}${cell.look}${cell.flash}${cell.marks}`.trimStart();
  if (classes === cell.classes) return;
  cell.classes = classes;
  cell.element.className = classes;
}
