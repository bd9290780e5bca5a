import type { Cell, Column } from './cell.ts';

/** One row: its id and its cells, in the order of the snapshot's columns. */
export interface Row {
  readonly id: string;
  readonly cells: readonly Cell[];
}

/** What a window holds at one revision. Never changes; an unchanged row is the same object in the next snapshot. */
export interface Snapshot {
  readonly generation: number;
  readonly revision: number;
  readonly columns: readonly Column[];
  readonly total: number;
  readonly offset: number;
  readonly rows: readonly Row[];
}
