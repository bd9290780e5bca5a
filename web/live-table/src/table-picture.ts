import type { ConnectionState, Problem, TableState } from '@tablecast/client';
import type { GridView } from './grid-view.ts';
import { isNarrowed } from './grid-view.ts';

/** What is shown where there are no rows to show. */
export interface TablePicture {
  readonly kind: 'waiting' | 'filling' | 'unknown' | 'refused' | 'empty' | 'nothing-found';
  readonly title: string;
  readonly words: string;
}

/** The picture of a table without rows; null where rows speak for themselves. What the connection lacks is for the page to say. */
export function pictureOf(state: TableState | null, connection: ConnectionState | null, view: GridView): TablePicture | null {
  const problem = state?.problem ?? null;
  if (state !== null && state.snapshot !== null) return state.snapshot.total > 0 || problem !== null ? null : emptyPicture(view);
  if (problem !== null) return refusedPicture(problem);
  if (connection?.problem?.code === 'feed_filling') {
    return { kind: 'filling', title: 'The tables are being filled', words: connection.problem.message };
  }
  return { kind: 'waiting', title: 'Waiting for rows', words: '' };
}

function emptyPicture(view: GridView): TablePicture {
  return isNarrowed(view)
    ? { kind: 'nothing-found', title: 'No row matches', words: 'Rows that do will appear here by themselves.' }
    : { kind: 'empty', title: 'No rows yet', words: 'The table is there, and empty. Rows appear here by themselves.' };
}

function refusedPicture({ code, message, hint }: Problem): TablePicture {
  const words = `${message} ${hint ?? ''}`.trim();
  return code === 'unknown_table' ? { kind: 'unknown', title: 'No such table', words } : { kind: 'refused', title: 'This view was refused', words };
}
