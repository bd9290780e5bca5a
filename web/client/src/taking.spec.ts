import { beforeEach, describe, expect, it } from 'vitest';
import { FakeWorld } from '../testing/index.ts';
import { Taking } from './taking.ts';

let world: FakeWorld;
let told: number[];
let taking: Taking;

beforeEach(() => {
  world = new FakeWorld();
  told = [];
  const { now, after } = world.environment;
  taking = new Taking({ now, after, send: (revision) => { told.push(revision); } });
});

describe('frames that are taken', () => {
  it('are told at once when it is quiet', () => {
    taking.took(1);
    world.advance(25);
    taking.took(2);
    expect(told).toEqual([1, 2]);
  });

  it('are told together when many come', () => {
    for (const revision of [1, 2, 3]) taking.took(revision);
    expect(told).toEqual([1]);
    world.advance(25);
    expect(told).toEqual([1, 3]);
    expect(world.timers.size).toBe(0);
  });

  it('are told although somebody set the clock back', () => {
    taking.took(1);
    world.jump(-3_600_000);
    taking.took(2);
    world.advance(25);
    expect(told).toEqual([1, 2]);
  });

  it('are not told any more once it stops', () => {
    for (const revision of [1, 2]) taking.took(revision);
    taking.stop();
    world.advance(100);
    expect(told).toEqual([1]);
    expect(world.timers.size).toBe(0);
  });
});
