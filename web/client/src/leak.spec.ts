import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { FakeWorld, frame, opened } from '../testing/index.ts';
import { TableHub } from './hub.ts';

const ROUNDS = 10_000;
const WARM_UP = 500;
const LEFT_BYTES = 500_000;
setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

/** Opened, answered, watched, moved, searched, closed and answered, and nothing of it is kept. */
async function visit(hub: TableHub, world: FakeWorld, round: number): Promise<void> {
  const table = hub.open({ table: 'users_ui', search: `visit ${String(round)}` }, { offset: round, size: 50 });
  table.watch(() => undefined);
  const sub = world.socket.last('open').sub;
  world.socket.say(opened(sub, [{ name: 'n', type: 'string' }]));
  world.socket.say(frame(sub, { [`row ${String(round)}`]: { n: 'x'.repeat(1000) } }));
  table.move({ offset: round + 1, size: 50 });
  const found = table.find('nowhere');
  const closed = table.close();
  world.socket.say({ type: 'closed', sub });
  await Promise.all([found, closed]);
  world.socket.sent.length = 0;
}

it('no memory is kept of 10,000 views that were opened and closed', async () => {
  const world = new FakeWorld();
  const hub = new TableHub({ url: 'localhost', key: 'sesame' }, world.environment);
  world.socket.welcome();
  for (let round = 0; round < WARM_UP; round += 1) await visit(hub, world, round);
  collect();
  const used = process.memoryUsage().heapUsed;
  for (let round = 0; round < ROUNDS; round += 1) await visit(hub, world, round);
  collect();
  expect(process.memoryUsage().heapUsed - used).toBeLessThan(LEFT_BYTES);
});
