import { expect, it, vi } from 'vitest';
import { FakeWorld } from '../testing/index.ts';
import { TableHub } from './hub.ts';

const hub = () => new TableHub({ url: 'localhost:10000', key: 'k' }, new FakeWorld().environment);

function answering(body: unknown) {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(body))));
}

it('tells how far the newest generation that is being filled has come', async () => {
  const generations = [
    { generation: 1, state: 'live' },
    { generation: 2, state: 'hydrating', progress: { done: 30, of: 120, per_second: 7 } },
  ];
  answering({ generations });
  expect(await hub().progress()).toEqual({ generation: 2, done: 30, of: 120 });
});

it.each([{}, { generations: [{ generation: 1, progress: null }] }, { generations: [{ progress: { done: 'x' } }] }])(
  'tells nothing where nothing is told: %j',
  async (body) => {
    answering(body);
    expect(await hub().progress()).toBeNull();
  },
);
