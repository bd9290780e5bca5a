import type { Problem } from './errors.ts';
import { sameProblem, TablecastError } from './errors.ts';

/**
 * - `connecting`: the first connection is on its way.
 * - `live`: logged in, the server's own data is live, and it was heard of a moment ago.
 * - `stale`: logged in, but the rows may be old: the server says so, or it does not answer.
 * - `reconnecting`: the connection was lost and comes back by itself.
 * - `refused`: the server does not take this key. Final.
 * - `closed`: closed from this side. Final.
 */
export type ConnectionPhase = 'connecting' | 'live' | 'stale' | 'reconnecting' | 'refused' | 'closed';

export interface ConnectionState {
  readonly phase: ConnectionPhase;
  /** Why the phase is what it is, where there is something to say. */
  readonly problem: Problem | null;
}

const NEXT: Readonly<Record<ConnectionPhase, readonly ConnectionPhase[]>> = {
  connecting: ['live', 'stale', 'reconnecting', 'refused', 'closed'],
  live: ['stale', 'reconnecting', 'refused', 'closed'],
  stale: ['live', 'reconnecting', 'refused', 'closed'],
  reconnecting: ['live', 'stale', 'refused', 'closed'],
  refused: ['closed'],
  closed: [],
};

export function step(from: ConnectionState, phase: ConnectionPhase, problem: Problem | null = null): ConnectionState {
  if (phase !== from.phase && !NEXT[from.phase].includes(phase)) {
    throw new TablecastError(
      'illegal_step',
      `A connection that is ${from.phase} cannot become ${phase}.`,
      from.phase === 'closed' ? 'Make a new TableHub.' : null,
    );
  }
  return { phase, problem };
}

export function sameState(left: ConnectionState, right: ConnectionState): boolean {
  return left.phase === right.phase && sameProblem(left.problem, right.problem);
}
