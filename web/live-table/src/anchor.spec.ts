import type { Snapshot } from '@tablecast/client';
import { expect, it } from 'vitest';
import { shiftOf } from './anchor.ts';

function snapshot(ids: string, offset = 0, generation = 1): Snapshot {
  const rows = ids.split(' ').map((id) => ({ id, cells: [] }));
  return { generation, revision: 1, columns: [], total: 100, offset, rows };
}

const SEEN = { from: 11, to: 15 };
const before = snapshot('a b c d e f g h', 10);

it('is what came in above', () => {
  expect(shiftOf(before, snapshot('x y a b c d e f', 10), SEEN)).toBe(2);
});

it('is less than nothing when rows above went', () => {
  expect(shiftOf(before, snapshot('b c d e f g h i', 10), SEEN)).toBe(-1);
});

it('is nothing when one row alone went elsewhere', () => {
  expect(shiftOf(before, snapshot('a c d e f b g h', 10), { from: 11, to: 16 })).toBe(-1);
  expect(shiftOf(before, snapshot('a b c d g e f h', 10), SEEN)).toBe(0);
});

it('goes by the place in the table, not in the window', () => {
  expect(shiftOf(before, snapshot('c d e f g h i j', 12), SEEN)).toBe(0);
});

it('is nothing across generations, or where no row is known', () => {
  expect(shiftOf(before, snapshot('x a b c d e f g', 10, 2), SEEN)).toBe(0);
  expect(shiftOf(before, snapshot('s t u v', 50), SEEN)).toBe(0);
});
