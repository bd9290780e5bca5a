/** A row is seen as soon in every second frame of a screen, and the frame between is left to everything else that runs here. */
const LEAST_MS = 25;
/** A tab that nobody sees has no frames: there the newest is done once in so long, and when the tab is seen again. */
const UNSEEN_MS = 1_000;

/** Does the newest of what it is given with an animation frame: the next one when it is quiet. */
export class Pace {
  readonly #asked: (() => void) | undefined;
  #task: (() => void) | null = null;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #doneAt = -Infinity;

  /** `asked` is called whenever a frame was asked for, which whoever paints may want to join. */
  constructor(asked?: () => void) {
    this.#asked = asked;
  }

  next(task: () => void): void {
    const waits = this.#task !== null;
    this.#task = task;
    if (waits) return;
    this.#timer = setTimeout(() => { this.#do(performance.now()); }, UNSEEN_MS);
    // Not by asking for the frame between too: who asks for a frame makes the browser do all of one.
    const rest = this.#doneAt + LEAST_MS - performance.now();
    if (rest > 0) this.#rest = setTimeout(() => { this.#ask(); }, Math.min(rest, LEAST_MS));
    else this.#ask();
  }

  cancel(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#rest);
    clearTimeout(this.#timer);
    this.#task = null;
  }

  #ask(): void {
    this.#frame = requestAnimationFrame((now) => { this.#do(now); });
    this.#asked?.();
  }

  #do(now: number): void {
    const task = this.#task;
    this.cancel();
    this.#doneAt = now;
    task?.();
  }
}
