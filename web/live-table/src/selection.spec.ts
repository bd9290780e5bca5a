import type { Snapshot } from '@tablecast/client';
import { expect, it } from 'vitest';
import { copied, follow, HEADER, isOneCell, rangeOf } from './selection.ts';

const COLUMNS = ['a', 'b'].map((name, cell) => ({ name, type: 'string', cell, width: 100, pinnedAt: null }));
const snapshot: Snapshot = {
  generation: 1,
  revision: 1,
  columns: COLUMNS,
  total: 100,
  offset: 10,
  rows: [
    { id: 'x', cells: ['one', 9007199254740993n] },
    { id: 'y', cells: ['two\tthree "four"', null] },
  ],
};

const place = (index: number, column: number, id: string | null = null) => ({ index, column, id });

it('is the cells between two places, whichever came first', () => {
  expect(rangeOf(place(5, 3), place(2, 4))).toEqual({ top: 2, bottom: 5, left: 3, right: 4 });
  expect(isOneCell(rangeOf(place(5, 3), place(5, 3)))).toBe(true);
});

it('is copied as a spreadsheet takes it, digit for digit', () => {
  expect(copied({ top: 10, bottom: 11, left: 0, right: 1 }, snapshot, COLUMNS)).toEqual({
    text: 'one\t9007199254740993\n"two\tthree ""four"""\t',
    rows: 2,
    missing: 0,
  });
});

it('says how many of its rows are not here', () => {
  expect(copied({ top: 8, bottom: 10, left: 0, right: 0 }, snapshot, COLUMNS)).toEqual({ text: 'one', rows: 1, missing: 2 });
});

it('follows its row, or those around it', () => {
  expect(follow(place(4, 1, 'y'), snapshot, 0)).toEqual(place(11, 1, 'y'));
  expect(follow(place(4, 1, 'gone'), snapshot, 3)).toEqual(place(7, 1, 'gone'));
  expect(follow(place(99, 1, 'gone'), snapshot, 3).index).toBe(99);
  const header = place(HEADER, 1);
  expect(follow(header, snapshot, 3)).toBe(header);
});
