import type { Json } from './json.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
}

export type Cell = string | number | bigint | boolean | null;

/** Turns a cell of the wire into a value; what does not fit its column's type stays as it was sent. */
export function decodeCell(type: string, raw: Json | undefined): Cell {
  if (raw === undefined || raw === null) return null;
  if (typeof raw === 'object') return JSON.stringify(raw);
  if (typeof raw !== 'string') return raw;
  if (type === 'int64') return decodeInt64(raw);
  if (type === 'double') return decodeDouble(raw);
  return raw;
}

function decodeInt64(raw: string): Cell {
  if (!/^-?\d+$/.test(raw)) return raw;
  const rounded = Number(raw);
  return Number.isSafeInteger(rounded) ? rounded : BigInt(raw);
}

function decodeDouble(raw: string): Cell {
  return raw === 'NaN' || raw === 'Infinity' || raw === '-Infinity' ? Number(raw) : raw;
}
