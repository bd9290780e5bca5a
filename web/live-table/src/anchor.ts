import type { Snapshot } from '@tablecast/client';
import type { Seen } from './window-plan.ts';

/**
 * By how many rows those that were seen have gone on, between two snapshots of a view: the median of them, so that a row which went
 * elsewhere by itself does not count. 0 where nothing can be compared.
 */
export function shiftOf(before: Snapshot, after: Snapshot, seen: Seen): number {
  if (before.generation !== after.generation) return 0;
  const places = new Map(after.rows.map((row, index) => [row.id, after.offset + index]));
  const shifts: number[] = [];
  for (let index = seen.from; index < seen.to; index += 1) {
    const row = before.rows[index - before.offset];
    const place = row === undefined ? undefined : places.get(row.id);
    if (place !== undefined) shifts.push(place - index);
  }
  shifts.sort((left, right) => left - right);
  return shifts[shifts.length >> 1] ?? 0;
}
