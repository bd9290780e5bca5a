import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeWorld } from '../testing/index.ts';
import { errorMessage, feed, frame, watchedHub, welcome } from '../testing/index.ts';
import type { ConnectionPhase } from './connection-state.ts';
import { TableHub } from './hub.ts';

let world: FakeWorld;
let hub: TableHub;
let phases: ConnectionPhase[];

const phase = () => hub.connection.value.phase;

beforeEach(() => {
  ({ world, hub, phases } = watchedHub());
});

describe('logging in', () => {
  it('sends the key first, in the protocol of the server', () => {
    world.socket.accept();
    expect(world.socket.url).toBe('ws://localhost:10000/ws');
    expect(world.socket.protocol).toBe('tablecast.v1');
    expect(world.socket.sent).toEqual([{ type: 'login', key: 'sesame' }]);
  });

  it('is live only when the server says that its feed is live', () => {
    world.socket.accept();
    world.socket.say(welcome());
    expect(phase()).toBe('connecting');
    world.socket.say(feed('live'));
    expect(phase()).toBe('live');
  });

  it.each(['', '  '])('with the key %j fails at once', (key) => {
    expect(() => new TableHub({ url: 'http://localhost', key }, world.environment)).toThrow('There is no key.');
  });

  it('without a URL fails at once', () => {
    expect(() => new TableHub({ url: '', key: 'k' }, world.environment)).toThrow('There is no server URL.');
  });

  it('with a wrong key is refused, said once and not tried again', () => {
    world.socket.accept();
    world.socket.say(errorMessage('wrong_key'));
    world.socket.drop(4401);
    world.advance(60_000);
    world.wake();
    expect(phases).toEqual(['refused']);
    expect(hub.connection.value.problem?.code).toBe('wrong_key');
    expect([world.sockets.length, world.timers.size, world.wakers.size + world.aways.size]).toEqual([1, 0, 0]);
  });

  it('is refused by the close code too', () => {
    world.socket.accept();
    world.socket.say(errorMessage('login_first'));
    world.socket.drop(4401);
    expect(hub.connection.value).toMatchObject({ phase: 'refused', problem: { code: 'login_first' } });
  });

  it('that nobody answers is tried again', () => {
    world.socket.accept();
    world.advance(8_000);
    expect(phase()).toBe('reconnecting');
    world.advance(150);
    expect(world.sockets.length).toBe(2);
  });
});

describe('staleness', () => {
  beforeEach(() => {
    world.socket.welcome();
  });

  it('is told with the words of the server', () => {
    world.socket.say(feed('stale', 'The broker does not answer.'));
    expect(hub.connection.value).toMatchObject({ phase: 'stale', problem: { message: 'The broker does not answer.' } });
    world.socket.say(feed('live'));
    expect(hub.connection.value).toEqual({ phase: 'live', problem: null });
  });

  it('is told while the server fills its tables', () => {
    world.socket.say(feed('filling'));
    expect(hub.connection.value).toMatchObject({ phase: 'stale', problem: { code: 'feed_filling' } });
  });

  it('is asked about with a ping, and not told while there are answers', () => {
    for (let round = 1; round <= 5; round += 1) {
      world.advance(3_000);
      expect(world.socket.last('ping')).toEqual({ type: 'ping', id: round });
      world.socket.say({ type: 'pong', id: round });
    }
    expect(phase()).toBe('live');
  });

  it('needs no ping while rows come', () => {
    for (let second = 0; second < 20; second += 1) {
      world.advance(1_000);
      world.socket.say(feed('live'));
    }
    expect(world.socket.heard('ping')).toEqual([]);
  });

  it('is told when the answer is late, and ends when it comes after all', () => {
    world.advance(6_000);
    expect(hub.connection.value).toMatchObject({ phase: 'stale', problem: { code: 'no_answer' } });
    world.socket.say({ type: 'pong', id: 1 });
    expect(phase()).toBe('live');
  });

  it('without an answer becomes a new connection', () => {
    world.advance(9_000);
    expect(phases).toEqual(['live', 'stale', 'reconnecting']);
    world.advance(150);
    world.socket.welcome();
    expect(phase()).toBe('live');
  });

  it('of a slept tab is told at once, before the answer shows whether anybody is there', () => {
    world.jump(3_600_000);
    world.wake();
    expect(phase()).toBe('stale');
    world.socket.say({ type: 'pong', id: 1 });
    expect(phase()).toBe('live');
    expect(world.sockets.length).toBe(1);
  });

  it('is still noticed after the clock was set back', () => {
    world.jump(-3_600_000);
    world.advance(20_000);
    expect(phases).toContain('reconnecting');
  });

  it('a notice of the server that ends nothing is shown until the next connection', () => {
    world.socket.say(errorMessage('maintenance_soon'));
    expect(hub.connection.value).toMatchObject({ phase: 'live', problem: { code: 'maintenance_soon' } });
  });
});

describe('reconnecting', () => {
  beforeEach(() => {
    world.socket.welcome();
  });

  it('waits longer each time, and says so only once', () => {
    world.socket.drop();
    for (const wait of [150, 225, 337.5]) {
      const before = world.sockets.length;
      world.advance(wait - 1);
      expect(world.sockets.length).toBe(before);
      world.advance(1);
      expect(world.sockets.length).toBe(before + 1);
      world.socket.drop();
    }
    expect(phases).toEqual(['live', 'reconnecting']);
  });

  it('does not hammer a server that takes it in and throws it out', () => {
    for (let round = 0; round < 30; round += 1) {
      world.socket.drop(1001);
      world.advance(5_000);
      world.socket.welcome();
    }
    world.socket.drop(1001);
    world.advance(2_999);
    expect(world.sockets.length).toBe(31);
  });

  it('starts over with short waits after a connection that lasted', () => {
    for (let round = 0; round < 10; round += 1) {
      world.socket.drop();
      world.advance(5_000);
    }
    world.socket.welcome();
    world.advance(3_000);
    world.socket.say({ type: 'pong', id: 1 });
    world.advance(3_000);
    world.socket.say({ type: 'pong', id: 2 });
    world.advance(4_000);
    world.socket.drop();
    world.advance(150);
    expect(world.sockets.length).toBe(12);
  });

  it('happens at once when the network or the tab comes back', () => {
    for (let round = 0; round < 10; round += 1) {
      world.socket.drop();
      world.advance(5_000);
    }
    world.socket.drop();
    const before = world.sockets.length;
    world.wake();
    expect(world.sockets.length).toBe(before + 1);
    world.advance(10_000);
    expect(world.sockets.filter((socket) => !socket.closed).length).toBeLessThanOrEqual(1);
  });

  it('gives up a login that was on its way before the network or the tab went, and not one that has just begun', () => {
    world.socket.drop();
    world.advance(150);
    world.wake();
    expect(world.sockets.length).toBe(2);
    world.jump(60_000);
    world.wake();
    expect([world.sockets.length, world.sockets[1]?.closed, phase()]).toEqual([3, true, 'reconnecting']);
    world.socket.welcome();
    expect([phase(), world.sockets.length]).toEqual(['live', 3]);
  });

  it('waits as long as the server asked, also when the network or the tab comes back', () => {
    world.socket.say(errorMessage('too_many_logins', undefined, 20));
    world.socket.drop(4429);
    world.wake();
    world.advance(19_999);
    world.wake();
    expect(world.sockets.length).toBe(1);
    world.advance(1);
    expect(world.sockets.length).toBe(2);
  });

  it('tells what the server said before it closed', () => {
    world.socket.say(errorMessage('too_many_messages'));
    world.socket.drop(4429);
    expect(hub.connection.value).toMatchObject({ phase: 'reconnecting', problem: { code: 'too_many_messages' } });
  });

  it('follows a message that cannot be read', () => {
    world.socket.sayText('{"type":"frame"}');
    expect(hub.connection.value).toMatchObject({ phase: 'reconnecting', problem: { code: 'bad_message' } });
    expect(world.sockets[0]?.closed).toBe(true);
  });

  it('goes on where a socket cannot even be made', () => {
    world.forbidden = true;
    world.socket.drop();
    world.advance(5_000);
    expect(hub.connection.value.problem?.message).toContain('insecure socket');
    world.forbidden = false;
    world.advance(5_000);
    world.socket.welcome();
    expect(phase()).toBe('live');
  });

  it('logs in afresh, and a changed key is then refused', () => {
    world.socket.drop();
    world.advance(150);
    world.socket.accept();
    expect(world.socket.sent).toEqual([{ type: 'login', key: 'sesame' }]);
    world.socket.say(errorMessage('wrong_key'));
    expect(phase()).toBe('refused');
  });

  it('hears nothing from the socket that it gave up', () => {
    const old = world.socket;
    world.advance(9_000);
    world.advance(150);
    old.say(feed('live'));
    expect(phase()).toBe('reconnecting');
    expect(old.listeners.size).toBe(0);
  });
});

describe('the age of the data', () => {
  it('is unknown before the feed is live, then starts over with every message', () => {
    world.socket.accept();
    world.socket.say(welcome());
    world.socket.say(feed('filling'));
    expect(hub.currentAt).toBeNull();
    world.socket.say(feed('live'));
    world.advance(3_000);
    expect(hub.currentAt).toBe(0);
    world.socket.say({ type: 'pong', id: 1 });
    expect(hub.currentAt).toBe(3_000);
  });

  it('counts how long a frame had to wait for this viewer', () => {
    world.socket.welcome();
    world.advance(2_000);
    world.socket.say(frame(1, {}, { late: 700 }));
    expect(hub.currentAt).toBe(1_300);
    world.socket.say(frame(1, {}, { revision: 2 }));
    expect(hub.currentAt).toBe(2_000);
  });

  it('grows until every view that is open has its rows of the new connection', () => {
    world.socket.welcome();
    const rows = { row: { n: '1' } };
    for (const [at, table] of ['users_ui', 'final_ui'].entries()) {
      hub.open({ table });
      world.socket.say(frame(at + 1, rows));
    }
    world.socket.drop();
    world.advance(5_000);
    world.socket.welcome();
    expect([phase(), hub.currentAt]).toEqual(['live', 0]);
    hub.open({ table: 'new_ui' });
    world.socket.say(frame(3, rows));
    world.socket.say({ type: 'pong', id: 1 });
    expect(hub.currentAt).toBe(0);
    world.socket.say(errorMessage('unknown_table', 4));
    expect(hub.currentAt).toBe(5_000);
  });

  it('grows while the feed is stale, whatever else the server says, and while the connection is lost', () => {
    world.socket.welcome();
    world.advance(1_000);
    world.socket.say(feed('stale'));
    world.socket.say({ type: 'pong', id: 1 });
    expect(hub.currentAt).toBe(0);
    world.socket.drop();
    world.advance(150);
    world.socket.accept();
    world.socket.say(welcome());
    expect(hub.currentAt).toBe(0);
  });
});

describe('closing', () => {
  it('waits until the socket is closed, and leaves nothing behind', async () => {
    world.socket.welcome();
    let done = false;
    const closed = hub.close().then(() => (done = true));
    await Promise.resolve();
    expect(done).toBe(false);
    world.advance(0);
    await closed;
    expect(phase()).toBe('closed');
    expect([world.socket.listeners.size, world.timers.size, world.wakers.size + world.aways.size]).toEqual([0, 0, 0]);
  });

  it('does not wait for ever for a server that does not agree', async () => {
    world.socket.welcome();
    world.socket.stubborn = true;
    const closed = hub.close();
    world.advance(2_000);
    await closed;
    expect([world.socket.listeners.size, world.timers.size]).toEqual([0, 0]);
  });

  it('ends a wait for the next attempt', async () => {
    world.socket.drop();
    await hub.close();
    world.advance(60_000);
    expect([world.sockets.length, world.timers.size, world.wakers.size + world.aways.size]).toEqual([1, 0, 0]);
  });

  it('twice is closing once', () => {
    expect(hub.close()).toBe(hub.close());
  });

  it('is possible after a refusal', async () => {
    world.socket.drop(4401);
    await hub.close();
    expect(phases).toEqual(['refused', 'closed']);
  });
});
