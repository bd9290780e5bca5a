import { expect, it } from 'vitest';
import type { ConnectionPhase } from './connection-state.ts';
import { step } from './connection-state.ts';

const at = (phase: ConnectionPhase) => ({ phase, problem: null });

it.each([
  ['connecting', 'live'],
  ['live', 'stale'],
  ['stale', 'live'],
  ['live', 'reconnecting'],
  ['reconnecting', 'live'],
  ['reconnecting', 'refused'],
  ['refused', 'closed'],
] as const)('goes from %s to %s', (from, to) => {
  expect(step(at(from), to).phase).toBe(to);
});

it.each([
  ['closed', 'live'],
  ['refused', 'reconnecting'],
  ['live', 'connecting'],
] as const)('answers the step from %s to %s with a sentence', (from, to) => {
  expect(() => step(at(from), to)).toThrow(`A connection that is ${from} cannot become ${to}.`);
});
