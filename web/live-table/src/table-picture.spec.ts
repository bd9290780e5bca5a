import type { Problem, Snapshot, TableState } from '@tablecast/client';
import { expect, it } from 'vitest';
import { PLAIN_VIEW } from './grid-view.ts';
import { DRAWINGS, pictureOf } from './table-picture.ts';

const snapshot = (total: number): Snapshot => ({ generation: 1, revision: 1, columns: [], total, offset: 0, rows: [] });
const problem = (code: string): Problem => ({ code, message: 'It says so.', hint: 'Do this.' });
const state = (change: Partial<TableState>): TableState => ({
  snapshot: null,
  updatedAt: null,
  viewport: { offset: 0, size: 1 },
  fresh: true,
  problem: null,
  ...change,
});
const kind = (...given: Parameters<typeof pictureOf>) => pictureOf(...given)?.kind ?? null;

it('waits, or tells that the server fills its tables', () => {
  expect(kind(null, null, PLAIN_VIEW)).toBe('waiting');
  expect(pictureOf(state({}), { phase: 'stale', problem: problem('feed_filling') }, PLAIN_VIEW)).toMatchObject({
    kind: 'filling',
    words: 'It says so.',
  });
});

it('tells an unknown table from one that is refused for another reason', () => {
  expect(pictureOf(state({ problem: problem('unknown_table') }), null, PLAIN_VIEW)).toMatchObject({
    kind: 'unknown',
    words: 'It says so. Do this.',
  });
  expect(kind(state({ problem: problem('bad_view') }), null, PLAIN_VIEW)).toBe('refused');
});

it('tells an empty table from a search that finds nothing', () => {
  expect(kind(state({ snapshot: snapshot(0) }), null, PLAIN_VIEW)).toBe('empty');
  expect(kind(state({ snapshot: snapshot(0) }), null, { ...PLAIN_VIEW, search: 'x' })).toBe('nothing-found');
});

it('is drawn, each kind in its own way', () => {
  expect(new Set(Object.values(DRAWINGS)).size).toBe(6);
});

it('lets rows speak, and a problem beside them', () => {
  expect(kind(state({ snapshot: snapshot(5) }), null, PLAIN_VIEW)).toBeNull();
  expect(kind(state({ snapshot: snapshot(0), problem: problem('bad_view') }), null, PLAIN_VIEW)).toBeNull();
});
