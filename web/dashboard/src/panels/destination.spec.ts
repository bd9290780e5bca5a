import { expect, it } from 'vitest';
import { PLAIN } from './panel-view.ts';
import { CHARTS, fragmentOf, OPERATOR, destinationOf, readDestination } from './destination.ts';

const WHOLE = destinationOf(
  'final_ui',
  {
    sort: [{ column: 'balance', descending: true }, { column: 'name', descending: false, locale: 'de' }],
    filter: { op: 'and', of: [{ op: 'gt', column: 'age', value: '30' }, { op: 'contains', column: 'name', value: 'a&b=c#d' }] },
    search: 'Zoë 100% + more',
  },
  '0-12',
);

it.each([WHOLE, destinationOf('users_ui'), destinationOf('users_ui', PLAIN, 'a b'), destinationOf(CHARTS), destinationOf(OPERATOR)])('is the same after a link: $shows', (destination) => {
  expect(readDestination(`#${fragmentOf(destination)}`)).toEqual(destination);
});

it('is short and can be typed', () => {
  expect(fragmentOf(destinationOf('users_ui'))).toBe('table=users_ui');
  expect(readDestination('table=final_ui&sort=balance:desc,name')?.view.sort).toEqual([
    { column: 'balance', descending: true },
    { column: 'name', descending: false },
  ]);
  expect(fragmentOf(destinationOf(OPERATOR))).toBe('panel=operator');
});

it.each(['', '#', '#rest', '#table=', '#table=no%20name', '#table=<b>', '#panel=moon', '#key=sesame'])('is nowhere for %s', (fragment) => {
  expect(readDestination(fragment)).toBeNull();
});

it('keeps every digit of a number that is written in a filter', () => {
  const filter = readDestination('#table=users_ui&filter={"op":"in","column":"age","values":[9007199254740993,41,1.5,"9007199254740993"]}')?.view.filter;
  expect(filter).toEqual({ op: 'in', column: 'age', values: ['9007199254740993', 41, 1.5, '9007199254740993'] });
});

it('leaves out what was cut or written wrong', () => {
  const destination = readDestination('#table=users_ui&sort=,name:up,age:desc&filter={"op":"e&search=x');
  expect(destination).toEqual(destinationOf('users_ui', { sort: [{ column: 'age', descending: true }], filter: null, search: 'x' }));
});
