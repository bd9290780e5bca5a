import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeWorld } from '../testing/index.ts';
import { watchedHub } from '../testing/index.ts';
import type { ConnectionPhase } from './connection-state.ts';
import type { TableHub } from './hub.ts';

let world: FakeWorld;
let hub: TableHub;
let phases: ConnectionPhase[];

const phase = () => hub.connection.value.phase;

beforeEach(() => {
  ({ world, hub, phases } = watchedHub());
  world.socket.welcome();
});

describe('silence', () => {
  it('is told a second after the network or the tab came back to a socket that is silent, and ends with another one after two', () => {
    world.wake();
    world.advance(999);
    expect(phase()).toBe('live');
    world.advance(1);
    expect(hub.connection.value).toMatchObject({ phase: 'stale', problem: { code: 'no_answer' } });
    world.advance(1_000);
    expect(phase()).toBe('reconnecting');
    world.advance(150);
    world.socket.welcome();
    expect([phase(), world.sockets.length]).toEqual(['live', 2]);
  });

  it('is not put off by whoever looks away and back again', () => {
    for (let round = 0; round < 4; round += 1) {
      world.wake();
      world.advance(500);
    }
    expect(phase()).toBe('reconnecting');
    expect(world.sockets[0]?.heard('ping').length).toBe(1);
  });

  it('is asked about calmly again once a socket has answered after all', () => {
    world.wake();
    world.advance(500);
    world.socket.say({ type: 'pong', id: 1 });
    world.advance(5_999);
    expect(phases).toEqual(['live']);
    world.advance(1);
    expect(phases).toEqual(['live', 'stale']);
  });

  it('is told at once when the network goes, and taken back where the server answers all the same', () => {
    world.goAway();
    expect(hub.connection.value).toMatchObject({ phase: 'stale', problem: { code: 'no_answer' } });
    world.socket.say({ type: 'pong', id: 1 });
    expect(phase()).toBe('live');
    world.goAway();
    world.advance(2_000);
    expect(phase()).toBe('reconnecting');
  });

  it('is not asked about where the socket is closing already', () => {
    world.socket.closing = true;
    world.goAway();
    expect([phase(), world.socket.heard('ping')]).toEqual(['stale', []]);
    world.socket.drop();
    expect(phase()).toBe('reconnecting');
  });
});
