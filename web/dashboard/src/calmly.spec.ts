import { createEnvironmentInjector, EnvironmentInjector, runInInjectionContext, signal } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { FakeWorld } from '@tablecast/client/testing';
import { expect, it } from 'vitest';
import { calmly } from './calmly.ts';

it('shows the first change at once, and of those that follow the newest when it is time', () => {
  const [world, source] = [new FakeWorld(), signal(0)];
  const injector = createEnvironmentInjector([], TestBed.inject(EnvironmentInjector));
  const shown = runInInjectionContext(injector, () => calmly(world.environment, 250, source));
  const seen = (value?: number): number => {
    if (value !== undefined) source.set(value);
    TestBed.tick();
    return shown();
  };
  expect([seen(), seen(1), seen(2), seen(3)]).toEqual([0, 1, 1, 1]);
  world.advance(250);
  expect(seen()).toBe(3);
  world.advance(250);
  world.advance(250);
  expect(seen(4)).toBe(4);
  seen(5);
  injector.destroy();
  world.advance(1000);
  expect([shown(), world.timers.size]).toEqual([4, 0]);
});
