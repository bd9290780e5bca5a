import type { Viewport } from '@tablecast/client';
import { countText } from './cell-text.ts';

export interface Seen {
  readonly from: number;
  readonly to: number;
}

/** So many rows around the visible ones are subscribed to, so that a small scroll finds them there. */
const AROUND = 50;
/** The window moves once fewer than this are left on the side that is scrolled to. */
const LEAST = 12;

/** The window to subscribe to for these rows: the present one as long as it serves, so that scrolling does not ask at every step. */
export function planWindow(seen: Seen, total: number, present: Viewport): Viewport {
  const wanted = { from: Math.max(0, seen.from - LEAST), to: Math.min(total, seen.to + LEAST) };
  const serves = present.offset <= wanted.from && present.offset + present.size >= wanted.to;
  const visible = Math.max(1, seen.to - seen.from);
  const roomy = present.size <= visible + 4 * AROUND;
  if (serves && roomy) return present;
  return { offset: Math.max(0, seen.from - AROUND), size: visible + 2 * AROUND };
}

/** The window of a grid that shows so many rows and has not been scrolled yet. */
export function firstWindow(visible: number): Viewport {
  return { offset: 0, size: visible + 2 * AROUND };
}

/** `rows a-b of n`, as far as there are so many. */
export function rangeText({ from, to }: Seen, total: number): string {
  return `rows ${countText(Math.min(from + 1, total))}-${countText(Math.min(to, total))} of ${countText(total)}`;
}
