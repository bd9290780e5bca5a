const FIRST_MS = 150;
const GROWTH = 1.5;
/** A server that is back is found within this, so that its rows are back within five seconds. */
const CAP_MS = 3_000;

/** How long to wait before reconnect number `attempt` (from 0). The jitter keeps a crowd of viewers from arriving at once. */
export function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(CAP_MS, FIRST_MS * GROWTH ** attempt);
  return full * (0.5 + random() / 2);
}
