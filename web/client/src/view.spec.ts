import { expect, it } from 'vitest';
import { tidyViewport, viewKey } from './view.ts';

it('is the same view, however it is written', () => {
  const filter = { op: 'and', of: [{ op: 'ge', column: 'age', value: '18' }] };
  const turned = { of: [{ value: '18', column: 'age', op: 'ge' }], op: 'and' };
  expect(viewKey({ table: 't', search: 'x', filter })).toBe(viewKey({ filter: turned, search: 'x', table: 't' }));
  expect(viewKey({ table: 't', search: null, filter: null, sort: [] })).toBe(viewKey({ table: 't' }));
});

it('is another view with another table, sort, filter or search', () => {
  const views = [
    { table: 't' },
    { table: 'u' },
    { table: 't', search: 'x' },
    { table: 't', filter: { op: 'null', column: 'a' } },
    { table: 't', sort: [{ column: 'a', descending: false }] },
    { table: 't', sort: [{ column: 'a', descending: true }] },
    { table: 't', sort: [{ column: 'a', descending: true, locale: 'de' }] },
    { table: 't', group: { by: ['a'], aggregates: [] } },
  ];
  expect(new Set(views.map(viewKey)).size).toBe(views.length);
});

it('makes whole numbers of any window', () => {
  expect(tidyViewport({ offset: -5, size: 0 })).toEqual({ offset: 0, size: 300 });
  expect(tidyViewport({ offset: NaN, size: 10.9 })).toEqual({ offset: 0, size: 10 });
});
