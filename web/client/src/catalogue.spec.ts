import { expect, it, vi } from 'vitest';
import { readCatalogue } from './catalogue.ts';

const ACCESS = { url: 'http://localhost:10000/', key: 'sesame' };
const TABLE = { name: 'users_ui', columns: [{ name: 'age', type: 'int64' }], rows: 3, generation: 1 };

function answering(status: number, body: string) {
  const ask = vi.fn(() => Promise.resolve(new Response(body, { status })));
  vi.stubGlobal('fetch', ask);
  return ask;
}

it('asks with the key, and gives tables and aliases', async () => {
  const ask = answering(200, JSON.stringify({ tables: [TABLE], aliases: { user: 'users_ui' } }));
  expect(await readCatalogue(ACCESS)).toEqual({ tables: [TABLE], aliases: { user: 'users_ui' } });
  const headers = { Authorization: 'Bearer sesame' };
  expect(ask).toHaveBeenCalledWith('http://localhost:10000/api/tables', { headers, signal: null });
});

it('says what the server says', async () => {
  answering(401, JSON.stringify({ error: { code: 'wrong_key', message: 'Not this key.', hint: 'Ask.' } }));
  await expect(readCatalogue(ACCESS)).rejects.toMatchObject({ code: 'wrong_key', message: 'Not this key.', hint: 'Ask.' });
});

it.each([
  [502, '<html>', 'The server answered with HTTP 502.'],
  [200, '<html>', 'did not answer with a list of tables'],
  [200, '{}', 'did not answer with a list of tables'],
])('says what is wrong with an answer %i %s', async (status, body, message) => {
  answering(status, body);
  await expect(readCatalogue(ACCESS)).rejects.toThrow(message);
});

it('says that the server cannot be reached', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')));
  await expect(readCatalogue(ACCESS)).rejects.toThrow('The server at http://localhost:10000/api/tables cannot be reached.');
});

it('asks nobody without a key', async () => {
  const ask = answering(200, '{}');
  await expect(readCatalogue({ ...ACCESS, key: '' })).rejects.toThrow('There is no key.');
  expect(ask).not.toHaveBeenCalled();
});
