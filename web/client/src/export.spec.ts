import { expect, it, vi } from 'vitest';
import { FakeWorld } from '../testing/index.ts';
import { TableHub } from './hub.ts';

const hub = () => new TableHub({ url: 'localhost:10000', key: ' sesame ' }, new FakeWorld().environment);

function answering(status: number, body: string, headers = {}) {
  const ask = vi.fn((_url: string, _request: RequestInit) => Promise.resolve(new Response(body, { status, headers })));
  vi.stubGlobal('fetch', ask);
  return ask;
}

it('asks for the whole view, with the key', async () => {
  const ask = answering(200, 'a,b\n', { 'tablecast-generation': '4', 'tablecast-rows': '12' });
  const view = {
    table: 'users_ui',
    sort: [{ column: 'age', descending: true }, { column: 'name', descending: false, locale: 'de' }],
    filter: { op: 'eq', column: 'name', value: 'Ann & Bob' },
    search: 'x=y',
  };
  const file = await hub().export(view, 'csv');
  const url = new URL(ask.mock.calls[0]?.[0] ?? '');
  expect(url.pathname).toBe('/api/tables/users_ui/export');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    format: 'csv',
    sort: 'age:desc,name:asc:de',
    filter: JSON.stringify(view.filter),
    search: 'x=y',
  });
  expect(ask.mock.calls[0]?.[1].headers).toEqual({ Authorization: 'Bearer sesame' });
  expect([file.name, file.generation, file.rows, await file.content.text()]).toEqual(['users_ui.csv', 4, 12, 'a,b\n']);
});

it('leaves out what the view does not say, and takes groups along', async () => {
  const ask = answering(200, '');
  await hub().export({ table: 't', group: { by: ['a'], aggregates: [{ op: 'count' }] } }, 'parquet');
  expect([...new URL(ask.mock.calls[0]?.[0] ?? '').searchParams.keys()]).toEqual(['format', 'group']);
});

it('has formulas neutralised in a CSV, where somebody wants that', async () => {
  const ask = answering(200, '');
  await hub().export({ table: 't' }, 'csv', null, 'neutralise');
  await hub().export({ table: 't' }, 'parquet', null, 'neutralise');
  const asked = ask.mock.calls.map(([url]) => new URL(url).search);
  expect(asked).toEqual(['?format=csv&formulas=neutralise', '?format=parquet']);
});

it('says what the server says', async () => {
  answering(503, JSON.stringify({ error: { code: 'too_many_exports', message: 'Too many at once.', hint: 'Wait.' } }));
  await expect(hub().export({ table: 't' }, 'arrow')).rejects.toMatchObject({ code: 'too_many_exports', hint: 'Wait.' });
});
