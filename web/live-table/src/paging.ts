import type { TableState } from '@tablecast/client';

/** Where the window is, or will be once the server has answered: several quick steps add up. */
function offsetOf({ snapshot, viewport, fresh }: TableState): number {
  return fresh ? (snapshot?.offset ?? 0) : viewport.offset;
}

export function previousOffset(state: TableState): number | null {
  const offset = offsetOf(state);
  return offset > 0 ? Math.max(0, offset - state.viewport.size) : null;
}

export function nextOffset(state: TableState): number | null {
  const offset = offsetOf(state) + state.viewport.size;
  return offset < (state.snapshot?.total ?? 0) ? offset : null;
}

export function rangeText({ snapshot }: TableState): string {
  if (snapshot === null) return 'waiting for rows';
  const { offset, rows, total } = snapshot;
  const first = rows.length === 0 ? 0 : offset + 1;
  return `rows ${String(first)}-${String(rows.length === 0 ? 0 : offset + rows.length)} of ${String(total)}`;
}
