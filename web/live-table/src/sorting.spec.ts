import { expect, it } from 'vitest';
import { nextSort, sortMark, withSorted } from './sorting.ts';

const up = (column: string) => ({ column, descending: false });
const down = (column: string) => ({ column, descending: true });

it('goes up, down and away', () => {
  const once = nextSort([], 'age', false);
  const twice = nextSort(once, 'age', false);
  expect([once, twice, nextSort(twice, 'age', false)]).toEqual([[up('age')], [down('age')], []]);
});

it('forgets the other columns unless it is asked to keep them', () => {
  expect(nextSort([up('name'), down('age')], 'city', false)).toEqual([up('city')]);
  expect(nextSort([up('name')], 'city', true)).toEqual([up('name'), up('city')]);
  expect(nextSort([up('name'), up('city')], 'name', true)).toEqual([down('name'), up('city')]);
  expect(nextSort([down('name'), up('city')], 'name', true)).toEqual([up('city')]);
});

it('never has more than three keys: the oldest goes', () => {
  expect(nextSort([up('a'), up('b'), up('c')], 'd', true)).toEqual([up('b'), up('c'), up('d')]);
});

it('keeps the language of a key', () => {
  expect(nextSort([{ ...up('name'), locale: 'de' }], 'name', false)).toEqual([{ ...down('name'), locale: 'de' }]);
});

it('is marked on its columns', () => {
  expect(sortMark([down('age')], 'age')).toEqual({ aria: 'descending', place: null });
  expect(sortMark([up('name'), up('age')], 'age')).toEqual({ aria: 'ascending', place: 2 });
  expect(sortMark([up('name')], 'age')).toEqual({ aria: 'none', place: null });
});

it('of one column among several leaves the others as they are', () => {
  const both = [up('name'), down('age')];
  expect(withSorted(both, 'name', null)).toEqual([down('age')]);
  expect(withSorted(both, 'name', true)).toEqual([down('name'), down('age')]);
  expect(withSorted(both, 'email', false)).toEqual([up('email')]);
  expect(withSorted([{ ...up('name'), locale: 'de' }], 'name', true)).toEqual([{ ...down('name'), locale: 'de' }]);
});
