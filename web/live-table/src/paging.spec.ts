import type { TableState } from '@tablecast/client';
import { describe, expect, it } from 'vitest';
import { nextOffset, previousOffset, rangeText } from './paging.ts';

function state(offset: number, rows: number, total: number, wanted?: number): TableState {
  const listed = Array.from({ length: rows }, (_, index) => ({ id: String(index), cells: [] }));
  const snapshot = { generation: 1, revision: 1, columns: [], total, offset, rows: listed };
  return { snapshot, viewport: { offset: wanted ?? offset, size: 300 }, fresh: wanted === undefined, problem: null };
}

describe('the pages', () => {
  it.each([
    ['the first page', state(0, 300, 1000), null, 300],
    ['a page in the middle', state(300, 300, 1000), 0, 600],
    ['the last page', state(700, 300, 1000), 400, null],
    ['a page that does not start at a multiple', state(150, 300, 450), 0, null],
    ['the only page', state(0, 20, 20), null, null],
    ['a page that was left twice before the answer', state(0, 300, 1000, 600), 300, 900],
  ])('around %s', (_, at, previous, next) => {
    expect([previousOffset(at), nextOffset(at)]).toEqual([previous, next]);
  });
});

describe('the range', () => {
  it.each([
    [state(0, 300, 1000), 'rows 1-300 of 1000'],
    [state(700, 300, 1000), 'rows 701-1000 of 1000'],
    [state(0, 0, 0), 'rows 0-0 of 0'],
    [{ ...state(0, 0, 0), snapshot: null }, 'waiting for rows'],
  ])('is told', (at, text) => {
    expect(rangeText(at)).toBe(text);
  });
});
