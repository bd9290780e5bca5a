import type { SortKey } from '@tablecast/client';

/** The server sorts by at most so many columns. */
const MOST_KEYS = 3;

/** The next sort when somebody asks for this column: up, down, not at all. Alone, or beside the columns that are sorted by already. */
export function nextSort(sort: readonly SortKey[], column: string, beside: boolean): readonly SortKey[] {
  const at = sort.findIndex((key) => key.column === column);
  const next = turned(sort[at], column);
  if (!beside) return next === null ? [] : [next];
  if (at < 0) return next === null ? sort : [...sort, next].slice(-MOST_KEYS);
  return next === null ? sort.toSpliced(at, 1) : sort.with(at, next);
}

/** The sort when this column is to be sorted so, or not at all. One of several stays in its place among them. */
export function withSorted(sort: readonly SortKey[], column: string, descending: boolean | null): readonly SortKey[] {
  if (descending === null) return sort.filter((key) => key.column !== column);
  const at = sort.findIndex((key) => key.column === column);
  return at < 0 ? [{ column, descending }] : sort.with(at, { ...sort[at], column, descending });
}

function turned(key: SortKey | undefined, column: string): SortKey | null {
  if (key === undefined) return { column, descending: false };
  return key.descending ? null : { ...key, descending: true };
}

export interface SortMark {
  readonly aria: 'ascending' | 'descending' | 'none';
  /** The place among several keys, from 1; null where there is one at most. */
  readonly place: number | null;
}

export function sortMark(sort: readonly SortKey[], column: string): SortMark {
  const at = sort.findIndex((key) => key.column === column);
  const key = sort[at];
  if (key === undefined) return { aria: 'none', place: null };
  return { aria: key.descending ? 'descending' : 'ascending', place: sort.length > 1 ? at + 1 : null };
}
