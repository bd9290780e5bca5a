import { expect, it } from 'vitest';
import type { Figures } from '../status/exposition.ts';
import { ageSeries, barsOf, drawable, rateSeries, told, toldBars } from './series.ts';

const at = (seconds: number, updates: number, age: number, generation = 1): Figures => ({
  at: seconds * 1000,
  generation,
  rows: new Map(),
  updates: new Map([['users_ui', updates], ['control_raw', 1000 * seconds]]),
  ages: new Map([['users_ui', age], ['account', age + 1], ['control_raw', 0]]),
});

it('draws changes a second without the tables about Tablecast itself, with a gap at a swap', () => {
  expect(rateSeries([at(0, 0, 0), at(2, 10, 0), at(4, 3, 0, 2), at(6, 9, 0, 2)])).toEqual({ times: [2, 4, 6], values: [5, null, 3] });
  expect(rateSeries([])).toEqual({ times: [], values: [] });
});

it('draws the age of the newest row of any table', () => {
  expect(ageSeries([at(1, 0, 0.5), { ...at(2, 0, 0), ages: new Map() }]).values).toEqual([0.5, null]);
});

it('says a series in one sentence', () => {
  expect(told({ times: [1, 2, 3], values: [4, null, 2] }, String)).toBe('2 now, between 2 and 4');
  expect(told({ times: [1], values: [null] }, String)).toBe('nothing is known yet');
});

it('makes bars of groups', () => {
  const columns = [{ name: 'accountType', type: 'string' }, { name: 'sum_balance', type: 'double' }, { name: 'count', type: 'int64' }];
  const rows = [{ id: '["A"]', cells: ['A', 12.5, 3] }, { id: '[null]', cells: [null, null, 1] }];
  const snapshot = { generation: 1, revision: 1, columns, total: 2, offset: 0, rows };
  expect(barsOf(snapshot, 'accountType', 'sum_balance')).toEqual({ names: ['A', 'no value'], values: [12.5, 0] });
  expect(barsOf(null, 'accountType', 'count')).toEqual({ names: [], values: [] });
});

it('sums up every group, and draws as many as can be read', () => {
  const names = Array.from({ length: 20 }, (_, index) => `type ${String(index)}`);
  const bars = { names, values: names.map(() => 5) };
  expect([drawable(bars).names.length, drawable(bars).values.length]).toEqual([12, 12]);
  expect(toldBars(bars, 20, String)).toBe('100 in all, of 20 types; 12 are drawn');
  expect(toldBars(bars, 400, String)).toBe('100 in all, of the first 20 of 400 types; 12 are drawn');
  expect(toldBars({ names: ['A'], values: [7] }, 1, String)).toBe('7 in all, of 1 type');
});
