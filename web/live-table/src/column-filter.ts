import type { Column, Condition, Json } from '@tablecast/client';

/** One column's part of a filter as somebody writes it. */
export interface ColumnFilter {
  readonly op: FilterOp;
  /** As it is typed: digits of an int64 are never rounded. */
  readonly value: string;
}

export type FilterOp =
  | 'contains' | 'starts' | 'ends' | 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge' | 'true' | 'false' | 'null' | 'filled';

export const OP_WORDS: Readonly<Record<FilterOp, string>> = {
  contains: 'contains',
  starts: 'begins with',
  ends: 'ends with',
  eq: 'is',
  ne: 'is not',
  lt: 'is less than',
  le: 'is at most',
  gt: 'is more than',
  ge: 'is at least',
  true: 'is true',
  false: 'is false',
  null: 'has no value',
  filled: 'has a value',
};

const ABOUT_NULL: readonly FilterOp[] = ['null', 'filled'];
const COMPARING: readonly FilterOp[] = ['eq', 'ne', 'ge', 'gt', 'le', 'lt'];
const OPS: Readonly<Record<string, readonly FilterOp[]>> = {
  string: ['contains', 'starts', 'ends', 'eq', 'ne', ...ABOUT_NULL],
  int64: [...COMPARING, ...ABOUT_NULL],
  double: [...COMPARING, ...ABOUT_NULL],
  timestamp: ['ge', 'lt', 'gt', 'le', ...ABOUT_NULL],
  boolean: ['true', 'false', ...ABOUT_NULL],
};

/** What can be asked of a column, the usual first. */
export function opsOf({ type }: Column): readonly FilterOp[] {
  return OPS[type] ?? ABOUT_NULL;
}

export function needsValue(op: FilterOp): boolean {
  return !['true', 'false', 'null', 'filled'].includes(op);
}

/** Why the value cannot be compared with cells of this column, or null where it can. */
export function valueProblem({ type }: Column, { op, value }: ColumnFilter): string | null {
  if (!needsValue(op)) return null;
  if (value === '') return 'Write something to compare with.';
  if (type === 'int64' && !/^-?\d+$/.test(value.trim())) return 'Write a whole number, such as 41.';
  if (type === 'double' && !/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value.trim())) return 'Write a number, such as 12.50.';
  if (type === 'double' && !Number.isFinite(Number(value))) return 'Write a smaller number: a double cannot hold this one.';
  if (type === 'timestamp' && Number.isNaN(Date.parse(`${value}Z`))) return 'Choose a date and a time (UTC).';
  return null;
}

/** The filter as the server understands it. Its value must have no problem. */
export function conditionOf(column: Column, { op, value }: ColumnFilter): Condition {
  const { name } = column;
  if (op === 'null') return { op: 'null', column: name };
  if (op === 'filled') return { op: 'not', of: { op: 'null', column: name } };
  if (op === 'true' || op === 'false') return { op: 'eq', column: name, value: op === 'true' };
  return { op, column: name, value: operand(column, value) };
}

function operand({ type }: Column, value: string): Json {
  if (type === 'double') return Number(value);
  if (type === 'int64') return value.trim();
  if (type === 'timestamp') return new Date(`${value}Z`).toISOString();
  return value;
}

/** A filter as its column's field has it: a date and a time are written there without the sign of UTC. */
export function written({ type }: Column, { op, value }: ColumnFilter): ColumnFilter {
  return { op, value: type === 'timestamp' ? value.replace(/Z$/, '') : value };
}

/** What a condition asks of one column, or null where it asks something that is not written in one column's words. */
export function filterOf(condition: Condition): { readonly column: string; readonly filter: ColumnFilter } | null {
  const inner = condition.op === 'not' ? condition['of'] : null;
  if (isCondition(inner) && inner.op === 'null') return about(inner['column'], 'filled', '');
  if (condition.op === 'null') return about(condition['column'], 'null', '');
  return condition.op in OP_WORDS ? compared(condition) : null;
}

function compared(condition: Condition): ReturnType<typeof filterOf> {
  const value = condition['value'] ?? null;
  if (value === null || typeof value === 'object') return null;
  if (typeof value === 'boolean') return condition.op === 'eq' ? about(condition['column'], value ? 'true' : 'false', '') : null;
  return about(condition['column'], condition.op as FilterOp, String(value));
}

function about(column: Json | undefined, op: FilterOp, value: string): ReturnType<typeof filterOf> {
  return typeof column === 'string' ? { column, filter: { op, value } } : null;
}

export function isCondition(value: unknown): value is Condition {
  return typeof value === 'object' && value !== null && 'op' in value && typeof value.op === 'string';
}
