import { expect, it } from 'vitest';
import type { ColumnLayout } from './column-layout.ts';
import { acrossTo, naturalWidths, ordered, placed, PLAIN_LAYOUT, withMoved, withPinned, withPlaceOf, withShown, withWidth } from './column-layout.ts';

const COLUMNS = ['a', 'b', 'c', 'd'].map((name) => ({ name, type: 'string' }));
const names = (layout: ColumnLayout) => placed(COLUMNS, layout, {}).map(({ name }) => name).join('');

it('shows columns as they come where nobody wants otherwise', () => {
  expect(names(PLAIN_LAYOUT)).toBe('abcd');
  expect(placed(COLUMNS, PLAIN_LAYOUT, { a: 50 })[0]).toEqual({ name: 'a', type: 'string', cell: 0, width: 50, pinnedAt: null });
});

it('hides and shows', () => {
  const without = withShown(PLAIN_LAYOUT, COLUMNS, 'b', false);
  expect([names(without), names(withShown(without, COLUMNS, 'b', true))]).toEqual(['acd', 'abcd']);
});

it('never hides the last one, also where a swap left only hidden ones', () => {
  const one = ['a', 'b', 'c', 'd'].reduce((layout, name) => withShown(layout, COLUMNS, name, false), PLAIN_LAYOUT);
  expect(names(one)).toBe('d');
  const all = { ...PLAIN_LAYOUT, hidden: ['a', 'b', 'c', 'd', 'gone'] };
  expect(names(all)).toBe('abcd');
  const without = withShown(all, COLUMNS, 'b', false);
  expect([names(without), without.hidden]).toEqual(['acd', ['gone', 'b']]);
});

it('moves by places and to places, and not beyond the ends', () => {
  expect(names(withMoved(PLAIN_LAYOUT, COLUMNS, 'a', 2))).toBe('bcad');
  expect(names(withMoved(PLAIN_LAYOUT, COLUMNS, 'a', -1))).toBe('abcd');
  expect(names(withMoved(PLAIN_LAYOUT, COLUMNS, 'd', 5))).toBe('abcd');
  expect(names(withPlaceOf(PLAIN_LAYOUT, COLUMNS, 'd', 'b'))).toBe('adbc');
});

it('pins at the start, one beside the other, and keeps the cell of each', () => {
  const layout = withPinned(withPinned(PLAIN_LAYOUT, 'c', true), 'a', true);
  const columns = placed(COLUMNS, layout, { a: 50, c: 70 });
  expect(columns.map(({ name, cell, pinnedAt }) => [name, cell, pinnedAt])).toEqual([
    ['a', 0, 0],
    ['c', 2, 50],
    ['b', 1, null],
    ['d', 3, null],
  ]);
  expect(names(withPinned(layout, 'c', false))).toBe('abcd');
});

it('is scrolled to by as little as shows it whole, beside the pinned ones', () => {
  const columns = placed(COLUMNS, withPinned(PLAIN_LAYOUT, 'a', true), { a: 50, b: 100, c: 100, d: 100 });
  const across = (name: string, at: number) => acrossTo(columns, 'abcd'.indexOf(name), at, 200);
  expect([across('a', 70), across('b', 0), across('d', 0)]).toEqual([70, 0, 150]);
  expect([across('c', 150), across('b', 150), across('c', 60)]).toEqual([100, 0, 60]);
  expect(acrossTo(columns, 3, 0, 80)).toBe(200);
  expect(acrossTo([], 0, 30, 80)).toBe(30);
});

it('keeps widths within reason', () => {
  expect([1, 200.4, 9_999].map((width) => withWidth(PLAIN_LAYOUT, 'a', width).widths['a'])).toEqual([56, 200, 900]);
});

it('puts columns that a swap brought at the end', () => {
  const layout = withMoved(PLAIN_LAYOUT, COLUMNS, 'a', 3);
  expect(ordered([{ name: 'new', type: 'string' }, ...COLUMNS], layout).map(({ name }) => name)).toEqual(['b', 'c', 'd', 'a', 'new']);
});

it('finds widths for the first rows', () => {
  const rows = [{ id: '1', cells: ['x'.repeat(30), 1] }];
  const columns = [{ name: 'text', type: 'string' }, { name: 'n', type: 'int64' }];
  const widths = naturalWidths({ generation: 1, revision: 1, columns, total: 1, offset: 0, rows });
  expect(widths['text']).toBeGreaterThan(220);
  expect(widths['n']).toBe(80);
});
