import { expect, it } from 'vitest';
import { backoffMs } from './backoff.ts';

it('grows by half at each attempt, up to a cap', () => {
  const waits = [0, 1, 2, 20].map((attempt) => backoffMs(attempt, () => 1));
  expect(waits).toEqual([150, 225, 337.5, 3000]);
});

it('is spread over its upper half', () => {
  expect(backoffMs(0, () => 0)).toBe(75);
  expect(backoffMs(20, () => 0.5)).toBe(2250);
});
