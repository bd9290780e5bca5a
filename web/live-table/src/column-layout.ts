import type { Column, Snapshot } from '@tablecast/client';
import { cellText } from './cell-text.ts';
import type { TextWidth } from './text-width.ts';
import { about } from './text-width.ts';

/** What one viewer wants of the columns of one table. Columns that it does not know, as after a swap, stand at the end as they come. */
export interface ColumnLayout {
  readonly order: readonly string[];
  readonly hidden: readonly string[];
  readonly pinned: readonly string[];
  readonly widths: Readonly<Record<string, number>>;
}

/** A column where it stands in the grid. */
export interface PlacedColumn extends Column {
  /** Its place among the cells of a row. */
  readonly cell: number;
  readonly width: number;
  /** How far from the start it is held, or null where it scrolls. */
  readonly pinnedAt: number | null;
}

export const PLAIN_LAYOUT: ColumnLayout = { order: [], hidden: [], pinned: [], widths: {} };
export const WIDTHS = { least: 56, most: 900, step: 24 } as const;

const USUAL: Readonly<Record<string, number>> = { int64: 80, double: 104, boolean: 88, timestamp: 184 };
const PADDING_PX = 28;
const LOOKED_AT = 40;
/** What a head has beside its name: the sign of the sort and the button of its options. Its letters are heavier. */
const HEAD_PX = 60;
const HEAVIER = 1.1;

/** All columns in the viewer's order, the pinned ones first. */
export function ordered(columns: readonly Column[], layout: ColumnLayout): readonly Column[] {
  const place = ({ name }: Column): number => {
    const at = layout.order.indexOf(name);
    return (layout.pinned.includes(name) ? 0 : 1e6) + (at < 0 ? 1e3 : at);
  };
  return columns.toSorted((left, right) => place(left) - place(right));
}

/** Those of them that are shown, in order. Where a viewer has hidden every column, as after a swap to others, all are: a grid without any shows nothing. */
export function shown(columns: readonly Column[], layout: ColumnLayout): readonly Column[] {
  const all = ordered(columns, layout);
  const left = all.filter(({ name }) => !layout.hidden.includes(name));
  return left.length === 0 ? all : left;
}

/** The columns that are shown, each with its place and width. */
export function placed(columns: readonly Column[], layout: ColumnLayout, natural: Readonly<Record<string, number>>): readonly PlacedColumn[] {
  const cells = new Map(columns.map(({ name }, index) => [name, index]));
  let start = 0;
  return shown(columns, layout)
    .map((column) => {
      const { name, type } = column;
      const width = layout.widths[name] ?? natural[name] ?? 160;
      const pinnedAt = layout.pinned.includes(name) ? start : null;
      start += width;
      return { name, type, cell: cells.get(name) ?? 0, width, pinnedAt };
    });
}

/** The scroll across, nearest to `at`, that shows the whole column beside the pinned ones; its start, where it is wider than the view. */
export function acrossTo(columns: readonly PlacedColumn[], index: number, at: number, viewPx: number): number {
  const column = columns[index];
  if (column?.pinnedAt !== null) return at;
  const sum = (parts: readonly PlacedColumn[]): number => parts.reduce((total, { width }) => total + width, 0);
  const start = sum(columns.slice(0, index));
  const held = sum(columns.filter(({ pinnedAt }) => pinnedAt !== null));
  return Math.max(0, Math.min(start - held, Math.max(at, start + column.width - viewPx)));
}

/** Widths that fit the names and the first rows. */
export function naturalWidths({ columns, rows }: Snapshot, width: TextWidth = about): Readonly<Record<string, number>> {
  const widthOf = (column: Column, cell: number): number => {
    const texts = rows.slice(0, LOOKED_AT).map((row) => width(cellText(column, row.cells[cell] ?? null).text) + PADDING_PX);
    const longest = Math.max(HEAVIER * width(column.name) + HEAD_PX, ...texts);
    return Math.ceil(Math.min(320, Math.max(USUAL[column.type] ?? 88, longest)));
  };
  return Object.fromEntries(columns.map((column, cell) => [column.name, widthOf(column, cell)]));
}

export function withWidth(layout: ColumnLayout, name: string, width: number): ColumnLayout {
  const kept = Math.round(Math.min(WIDTHS.most, Math.max(WIDTHS.least, width)));
  return { ...layout, widths: { ...layout.widths, [name]: kept } };
}

/** With the column shown or not. The last one stays; columns that are not there just now stay hidden for when they are. */
export function withShown(layout: ColumnLayout, columns: readonly Column[], name: string, wanted: boolean): ColumnLayout {
  const there = columns.map((column) => column.name);
  const left = shown(columns, layout).map((column) => column.name).filter((each) => each !== name);
  if (!wanted && left.length === 0) return layout;
  const seen = wanted ? [...left, name] : left;
  return { ...layout, hidden: [...layout.hidden.filter((each) => !there.includes(each)), ...there.filter((each) => !seen.includes(each))] };
}

export function withPinned(layout: ColumnLayout, name: string, pinned: boolean): ColumnLayout {
  const others = layout.pinned.filter((each) => each !== name);
  return { ...layout, pinned: pinned ? [...others, name] : others };
}

/** The column some places on, as far as there is room. */
export function withMoved(layout: ColumnLayout, columns: readonly Column[], name: string, by: number): ColumnLayout {
  const names = ordered(columns, layout).map((column) => column.name);
  const from = names.indexOf(name);
  const to = Math.min(names.length - 1, Math.max(0, from + by));
  return { ...layout, order: names.toSpliced(from, 1).toSpliced(to, 0, name) };
}

/** The column right where another one stands. */
export function withPlaceOf(layout: ColumnLayout, columns: readonly Column[], name: string, other: string): ColumnLayout {
  const names = ordered(columns, layout).map((column) => column.name);
  return withMoved(layout, columns, name, names.indexOf(other) - names.indexOf(name));
}
