import type { Cell, Snapshot } from '@tablecast/client';
import { expect, it } from 'vitest';
import { nextFlashes, settled } from './flashes.ts';

const COLUMNS = [
  { name: 'a', type: 'int64' },
  { name: 'b', type: 'double' },
];

function snapshot(rows: Record<string, readonly Cell[]>, generation = 1): Snapshot {
  const listed = Object.entries(rows).map(([id, cells]) => ({ id, cells }));
  return { generation, revision: 1, columns: COLUMNS, total: listed.length, offset: 0, rows: listed };
}

const first = nextFlashes(undefined, snapshot({ x: [1, NaN], y: [2n, null] }));

it('counts the cells that changed, and only those', () => {
  const next = nextFlashes(first, snapshot({ x: [1, NaN], y: [3n, null] }));
  expect([...next.changes]).toEqual([['y', [1, 0]]]);
});

it('counts on when a cell changes again, so that it can flash again', () => {
  const once = nextFlashes(first, snapshot({ x: [2, NaN] }));
  const twice = nextFlashes(once, snapshot({ x: [3, 1.5] }));
  expect(twice.changes.get('x')).toEqual([2, 1]);
});

it('lets rows that are new to the window come quietly', () => {
  expect(nextFlashes(first, snapshot({ z: [9, 9] })).changes.size).toBe(0);
});

it('lets a new generation and the first rows come quietly', () => {
  expect(first.changes.size).toBe(0);
  expect(nextFlashes(first, snapshot({ x: [7, 7] }, 2)).changes.size).toBe(0);
  expect(nextFlashes(first, null).changes.size).toBe(0);
});

it('forgets a cell that has flashed', () => {
  const both = nextFlashes(first, snapshot({ x: [2, 1.5] }));
  const one = settled(both, 'x', 0);
  expect(one.changes.get('x')).toEqual([0, 1]);
  expect(settled(one, 'x', 1).changes.size).toBe(0);
  expect(settled(one, 'unknown', 1).changes).toBe(one.changes);
});
