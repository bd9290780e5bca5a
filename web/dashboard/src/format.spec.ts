import { expect, it } from 'vitest';
import { amount, coarse, compact, moment, span } from './format.ts';

it('writes figures as people read them', () => {
  expect([amount(1234567), coarse(12.3456), compact(15_400_000)]).toEqual(['1,234,567', '12.3', '15.4M']);
  expect([span(-5), span(430), span(2_500), span(75_000), span(600_000), span(8_000_000)]).toEqual(['0 ms', '430 ms', '2.5 s', '75 s', '10 min', '2 h']);
});

it('tells the day only of another day, and leaves what is no time as it is', () => {
  const now = Date.parse('2026-01-02T12:00:00Z');
  expect(moment('2026-01-02T11:00:00Z', now)).not.toContain('2026');
  expect(moment('2025-12-02T11:00:00Z', now)).toContain('2025');
  expect(moment('soon', now)).toBe('soon');
});
