import { createEnvironmentInjector, EnvironmentInjector, runInInjectionContext, signal } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { expect, it, vi } from 'vitest';
import { calmly } from './calmly.ts';

it('shows the first change at once, and of those that follow the newest when it is time', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const source = signal(0);
  const injector = createEnvironmentInjector([], TestBed.inject(EnvironmentInjector));
  const shown = runInInjectionContext(injector, () => calmly(250, source));
  const seen = (value?: number): number => {
    if (value !== undefined) source.set(value);
    TestBed.tick();
    return shown();
  };
  expect([seen(), seen(1), seen(2), seen(3)]).toEqual([0, 1, 1, 1]);
  vi.advanceTimersByTime(250);
  expect(seen()).toBe(3);
  vi.advanceTimersByTime(500);
  expect(seen(4)).toBe(4);
  seen(5);
  injector.destroy();
  vi.advanceTimersByTime(1000);
  expect(shown()).toBe(4);
  vi.useRealTimers();
});
