import type { ConnectionState, Problem, TableState } from '@tablecast/client';
import type { GridView } from './grid-view.ts';
import { isNarrowed } from './grid-view.ts';

/** What is shown where there are no rows to show. */
export interface TablePicture {
  readonly kind: 'waiting' | 'filling' | 'unknown' | 'refused' | 'empty' | 'nothing-found';
  readonly title: string;
  readonly words: string;
}

/** A small drawing for each, as the path of its lines in a square of 24: a clock, a table half full, one with a question, a bar, an empty tray, a lens. */
export const DRAWINGS: Readonly<Record<TablePicture['kind'], string>> = {
  waiting: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5.5l3.5 2',
  filling: 'M4 6h16v12H4zM4 10h16M9 10v8M4 14h10',
  unknown: 'M4 5h16v14H4zM4 9h16M10.2 12.6a1.9 1.9 0 1 1 2.6 1.6c-.5.2-.8.5-.8 1M12 17v.2',
  refused: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M5.7 5.7l12.6 12.6',
  empty: 'M4 13l2.5-8h11L20 13v6H4zM4 13h4.5l1.5 2.5h4l1.5-2.5H20',
  'nothing-found': 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M15.3 15.3 20 20M8 10.5h5',
};

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
