import type { Row, Snapshot } from '@tablecast/client';

/** How often each cell changed since it last stood still; a row without changes has no entry. */
export interface Flashes {
  readonly snapshot: Snapshot | null;
  readonly changes: ReadonlyMap<string, readonly number[]>;
}

const NONE: ReadonlyMap<string, readonly number[]> = new Map();

/** Counts the cells that differ from the snapshot before. Rows that are new to the window, and whole new tables, do not flash. */
export function nextFlashes(before: Flashes | undefined, snapshot: Snapshot | null): Flashes {
  if (!before?.snapshot || !snapshot || !comparable(before.snapshot, snapshot)) return { snapshot, changes: NONE };
  const known = new Map(before.snapshot.rows.map((row) => [row.id, row]));
  const changes = new Map<string, readonly number[]>();
  for (const row of snapshot.rows) {
    const counts = changesOf(known.get(row.id), row, before.changes.get(row.id));
    if (counts !== undefined) changes.set(row.id, counts);
  }
  return { snapshot, changes };
}

function comparable(old: Snapshot, snapshot: Snapshot): boolean {
  return old.generation === snapshot.generation && old.columns.length === snapshot.columns.length;
}

function changesOf(old: Row | undefined, row: Row, counts: readonly number[] | undefined): readonly number[] | undefined {
  if (old === undefined || old === row) return counts;
  const next = row.cells.map((cell, index) => (counts?.[index] ?? 0) + (Object.is(cell, old.cells[index]) ? 0 : 1));
  return next.some((count) => count > 0) ? next : undefined;
}

/** The cell has flashed and stands still. */
export function settled({ snapshot, changes }: Flashes, rowId: string, index: number): Flashes {
  const counts = changes.get(rowId);
  if (counts === undefined) return { snapshot, changes };
  const rest = counts.with(index, 0);
  const next = new Map(changes);
  if (rest.some((count) => count > 0)) next.set(rowId, rest);
  else next.delete(rowId);
  return { snapshot, changes: next };
}
