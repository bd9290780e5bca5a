import { beforeEach, describe, expect, it } from 'vitest';
import { frame, opened } from '../testing/index.ts';
import { RowStore } from './row-store.ts';

const COLUMNS = [
  { name: 'userId', type: 'string' },
  { name: 'age', type: 'int64' },
];

let store: RowStore;

beforeEach(() => {
  store = new RowStore();
  store.announce(opened(1, COLUMNS));
  store.expect(1);
  store.apply(frame(1, { a: { userId: 'u1', age: '1' }, b: { userId: 'u2', age: '2' } }));
});

const cells = () => store.snapshot?.rows.map((row) => row.cells);
const delta = { ids: [], request: 1, total: 2, revision: 2 };

it('reads the cells by the types of the columns', () => {
  expect(cells()).toEqual([
    ['u1', 1],
    ['u2', 2],
  ]);
});

it('shows a cell that the row does not have as null, also under a name that every object has', () => {
  store.announce(opened(1, [{ name: 'toString', type: 'string' }], 2));
  store.apply(frame(1, { a: { userId: 'u1' } }, { generation: 2, revision: 2 }));
  expect(cells()).toEqual([[null]]);
});

it('keeps the objects of rows that did not change, and never changes a snapshot', () => {
  const before = store.snapshot;
  const { ids: _, ...change } = delta;
  const { ids: __, ...update } = frame(1, { b: { userId: 'u2', age: '3' } }, change);
  store.apply(update);
  expect(store.snapshot?.rows[0]).toBe(before?.rows[0]);
  expect(store.snapshot?.rows[1]?.cells).toEqual(['u2', 3]);
  expect(before?.rows[1]?.cells).toEqual(['u2', 2]);
});

it('forgets rows that left the window', () => {
  store.apply(frame(1, {}, { ids: ['b'], revision: 2 }));
  expect(() => store.apply(frame(1, {}, { ids: ['a', 'b'], revision: 3 }))).toThrow("names the row 'a'");
});

describe('a late frame', () => {
  it.each([
    ['an older generation', { generation: 0, revision: 9 }],
    ['an older revision', { revision: 1 }],
    ['an older request', { request: 0, revision: 9 }],
  ])('of %s is dropped', (_, change) => {
    const before = store.snapshot;
    expect(store.apply(frame(1, {}, change))).toBe(false);
    expect(store.snapshot).toBe(before);
  });
});

describe('a frame that does not fit', () => {
  it('is one of a new generation without ids', () => {
    const { ids: _, ...partial } = frame(1, {}, { generation: 2, revision: 2 });
    expect(() => store.apply(partial)).toThrow('it has no ids');
  });

  it('is a first answer that builds on rows from before the request', () => {
    store.expect(2);
    expect(() => store.apply(frame(1, {}, { ids: ['a'], request: 2, revision: 2 }))).toThrow("names the row 'a'");
  });
});

describe('a swap', () => {
  it('changes columns and rows in one step', () => {
    store.announce(opened(1, [{ name: 'city', type: 'string' }], 2));
    expect(store.snapshot?.columns).toEqual(COLUMNS);
    store.apply(frame(1, { a: { userId: 'u1', age: '9' }, b: {} }, { revision: 2 }));
    expect(cells()?.[0]).toEqual(['u1', 9]);
    store.apply(frame(1, { a: { city: 'Bern' } }, { generation: 2, revision: 3 }));
    expect(store.snapshot?.columns).toEqual([{ name: 'city', type: 'string' }]);
    expect(cells()).toEqual([['Bern']]);
  });

  it('keeps the columns when only the rows are new', () => {
    store.apply(frame(1, { z: { userId: 'u9', age: '9' } }, { generation: 2, revision: 2 }));
    expect(cells()).toEqual([['u9', 9]]);
  });
});

it('takes an older generation from a new connection, and shows the old rows until then', () => {
  store.apply(frame(1, { a: { userId: 'u1' } }, { generation: 5, revision: 2 }));
  store.restart();
  expect(cells()).toEqual([['u1', null]]);
  store.announce(opened(2, COLUMNS, 4));
  store.apply(frame(2, { b: { userId: 'u2' } }, { generation: 4 }));
  expect(cells()).toEqual([['u2', null]]);
});
