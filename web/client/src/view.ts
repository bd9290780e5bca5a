import type { Json } from './json.ts';

export interface SortKey {
  readonly column: string;
  readonly descending: boolean;
  /** A language tag: text in the order of that language, not of code points. */
  readonly locale?: string;
}

export type AggregateOp = 'count' | 'sum' | 'min' | 'max' | 'avg';

/** One figure of each group; only a count needs no column. Its own column is called `op`, or `op_column`. */
export interface Aggregate {
  readonly op: AggregateOp;
  readonly column?: string;
}

/** One row for each value of the columns `by`. */
export interface Grouping {
  readonly by: readonly string[];
  readonly aggregates: readonly Aggregate[];
}

/** A structured filter, as the server understands it: an operator and its operands. */
export interface Condition {
  readonly op: string;
  readonly [operand: string]: Json;
}

/** How the rows of a table are looked at. */
export interface Shape {
  readonly sort?: readonly SortKey[];
  readonly filter?: Condition | null;
  readonly search?: string | null;
  readonly group?: Grouping | null;
}

/** A table, looked at in one way. Two equal views share one subscription. */
export interface View extends Shape {
  readonly table: string;
}

/** The part of a view that somebody looks at. */
export interface Viewport {
  readonly offset: number;
  readonly size: number;
}

export const PAGE_SIZE = 300;

export const FIRST_PAGE: Viewport = { offset: 0, size: PAGE_SIZE };

export function sameViewport(left: Viewport, right: Viewport): boolean {
  return left.offset === right.offset && left.size === right.size;
}

/** The fields of a shape that say something, in one order; absent ones stay absent on the wire. */
export function shapeFields(shape: Shape): Shape {
  return {
    ...(shape.sort?.length ? { sort: shape.sort } : {}),
    ...(shape.filter ? { filter: shape.filter } : {}),
    ...(shape.search ? { search: shape.search } : {}),
    ...(shape.group ? { group: shape.group } : {}),
  };
}

/** Equal for equal views, whatever the order in which their fields were written. */
export function viewKey(view: View): string {
  return JSON.stringify([view.table, shapeFields(view)], (_, value: Json) => sorted(value));
}

function sorted(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Whole numbers in range, whatever was computed. */
export function tidyViewport({ offset, size }: Viewport): Viewport {
  return { offset: Math.max(0, Math.trunc(offset) || 0), size: Math.max(1, Math.trunc(size) || PAGE_SIZE) };
}
