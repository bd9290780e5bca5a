import type { Cell, Column } from '@tablecast/client';

/** How a cell is written. `words` are for a screen reader where the sign alone says nothing. */
export interface CellText {
  readonly text: string;
  readonly look: 'value' | 'null' | 'empty';
  readonly words: string | null;
}

const NULL: CellText = { text: '–', look: 'null', words: 'no value' };
const EMPTY: CellText = { text: '“”', look: 'empty', words: 'empty text' };
/** A cell never shows more than this; the row's details do. */
const LONGEST = 300;
/** Where a line of a text ends: in a grid all of it stands in one. */
const BREAK = /\r\n|[\n\r\u2028\u2029]/g;
/** Numbers that name something are not counted in thousands. */
const NAMES_SOMETHING = /(^|_)id$|Id$|offset|partition|generation|year|port$/;
const ISO = /^(\d{4,}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2}(?:\.\d+)?)Z$/;

const parts = new Intl.NumberFormat().formatToParts(-12_345.6);
const sign = (type: Intl.NumberFormatPartTypes, usual: string): string => parts.find((part) => part.type === type)?.value ?? usual;
const [GROUP, POINT] = [sign('group', ','), sign('decimal', '.')];

export function isNumber({ type }: Column): boolean {
  return type === 'int64' || type === 'double';
}

/** A cell as it is shown in the grid. */
export function cellText(column: Column, cell: Cell): CellText {
  if (cell === null) return NULL;
  if (cell === '') return EMPTY;
  return { text: cut(shown(column, cell)).replace(BREAK, '↵'), look: 'value', words: null };
}

/** Never between the two halves of one sign. */
function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  const end = (text.codePointAt(LONGEST - 1) ?? 0) > 0xffff ? LONGEST - 1 : LONGEST;
  return `${text.slice(0, end)}…`;
}

/** A cell in full, as it is copied. */
export function rawText(cell: Cell): string {
  return cell === null ? '' : String(cell);
}

function shown(column: Column, cell: NonNullable<Cell>): string {
  if (isNumber(column) && typeof cell !== 'boolean') return numberText(column, cell);
  if (column.type === 'timestamp') return String(cell).replace(ISO, '$1 $2');
  return String(cell);
}

/** Every digit that was sent, in groups of three, and with cents at least where there is a fraction in the type. */
function numberText({ name, type }: Column, cell: string | number | bigint): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(cell));
  if (match === null) return String(cell);
  const [, minus = '', whole = '', fraction = ''] = match;
  const grouped = NAMES_SOMETHING.test(name) ? whole : whole.replace(/\B(?=(\d{3})+$)/g, GROUP);
  const cents = type === 'double' ? fraction.padEnd(2, '0') : fraction;
  return `${minus === '' ? '' : '−'}${grouped}${cents === '' ? '' : POINT + cents}`;
}

/** A count for people. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, GROUP);
}

/** The count that somebody wrote, with or without the signs between thousands; null where it is none. */
export function countOf(text: string): number | null {
  const digits = text.trim().replaceAll(GROUP, '').replace(/[\s\u00a0\u202f]/g, '');
  return /^\d+$/.test(digits) ? Number(digits) : null;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** The time of day. */
export function timeText(at: number): string {
  return CLOCK.format(at);
}
