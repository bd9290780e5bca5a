/** So many frames of a subscription are sent before they are taken: one is dealt with while the next is on its way. */
export const AHEAD = 2;
/** A screen shows no more: what comes in between is taken together. */
const LEAST_MS = 25;

export interface Taker {
  readonly send: (revision: number) => void;
  readonly after: (ms: number, task: () => void) => () => void;
  readonly now: () => number;
}

/**
 * Tells the server which frames are dealt with, so that it sends no more than that can be: a browser reads its socket however busy the page
 * is, and frames would pile up there unseen.
 */
export class Taking {
  readonly #taker: Taker;
  #tookAt = -Infinity;
  #newest = 0;
  #cancel: (() => void) | null = null;

  constructor(taker: Taker) {
    this.#taker = taker;
  }

  took(revision: number): void {
    this.#newest = revision;
    if (this.#cancel !== null) return;
    // A clock that was set back must not put it off for longer.
    const wait = Math.min(LEAST_MS, this.#tookAt + LEAST_MS - this.#taker.now());
    if (wait <= 0) this.#tell();
    else this.#cancel = this.#taker.after(wait, () => { this.#tell(); });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #tell(): void {
    this.stop();
    this.#tookAt = this.#taker.now();
    this.#taker.send(this.#newest);
  }
}
