import type { Problem } from './errors.ts';
import { sameProblem } from './errors.ts';
import type { Snapshot } from './snapshot.ts';
import type { Viewport } from './view.ts';
import { sameViewport } from './view.ts';

/** How one table stands for those who watch it. */
export interface TableState {
  /** The last rows that came; null before the first. They stay through a lost connection and a swap. */
  readonly snapshot: Snapshot | null;
  /** The window that is wanted, which the snapshot may not show yet. */
  readonly viewport: Viewport;
  /** When the snapshot came, by this machine's clock; null before the first. */
  readonly updatedAt: number | null;
  /** The snapshot answers the wanted window, over the present connection. */
  readonly fresh: boolean;
  /** Why the table or the window was refused, until a later request is answered. */
  readonly problem: Problem | null;
}

export function sameTableState(left: TableState, right: TableState): boolean {
  return (
    left.snapshot === right.snapshot &&
    left.fresh === right.fresh &&
    sameViewport(left.viewport, right.viewport) &&
    sameProblem(left.problem, right.problem)
  );
}
