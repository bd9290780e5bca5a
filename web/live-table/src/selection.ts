import type { Snapshot } from '@tablecast/client';
import { countText, rawText } from './cell-text.ts';
import type { PlacedColumn } from './column-layout.ts';

/** A cell of the grid. The header is the row -1. `id` is the row that stood there when it was last seen. */
export interface Place {
  readonly index: number;
  readonly column: number;
  readonly id: string | null;
}

export const HEADER = -1;

/** The cells between two places, ends included. */
export interface Range {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

export function rangeOf(from: Place, to: Place): Range {
  return {
    top: Math.max(0, Math.min(from.index, to.index)),
    bottom: Math.max(from.index, to.index),
    left: Math.min(from.column, to.column),
    right: Math.max(from.column, to.column),
  };
}

export function isOneCell({ top, bottom, left, right }: Range): boolean {
  return top === bottom && left === right;
}

/** The place where its row stands now: where it went, or else as far on as those around it went. */
export function follow(place: Place, snapshot: Snapshot, shift: number): Place {
  if (place.index === HEADER) return place;
  const at = place.id === null ? -1 : snapshot.rows.findIndex((row) => row.id === place.id);
  const index = at < 0 ? Math.max(0, place.index + shift) : snapshot.offset + at;
  return index === place.index ? place : { ...place, index: Math.min(index, Math.max(0, snapshot.total - 1)) };
}

export interface Copied {
  readonly text: string;
  readonly rows: number;
  /** Rows of the range that are not here, and so were not copied. */
  readonly missing: number;
}

/** The cells of a range as a spreadsheet takes them: tabs between cells, a line for each row. */
export function copied(range: Range, snapshot: Snapshot, columns: readonly PlacedColumn[]): Copied {
  const wanted = columns.slice(range.left, range.right + 1);
  const lines: string[] = [];
  for (let index = range.top; index <= range.bottom; index += 1) {
    const row = snapshot.rows[index - snapshot.offset];
    if (row !== undefined) lines.push(wanted.map(({ cell }) => quoted(rawText(row.cells[cell] ?? null))).join('\t'));
  }
  return { text: lines.join('\n'), rows: lines.length, missing: range.bottom - range.top + 1 - lines.length };
}

/** `3 rows × 2`, of so many rows or of all that the range has. */
export function rangeWords({ top, bottom, left, right }: Range, rows = bottom - top + 1): string {
  return `${countText(rows)} ${rows === 1 ? 'row' : 'rows'} × ${String(right - left + 1)}`;
}

/** What was copied, and what was not. */
export function copiedWords({ rows, missing }: Copied, range: Range): string {
  const rest = missing > 0 ? ` ${countText(missing)} rows are not loaded: export the view to have all.` : '';
  return `Copied ${rangeWords(range, rows)}.${rest}`;
}

/** A tab or a line break within a cell would be taken for the end of it. */
export function quoted(text: string): string {
  return /[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
