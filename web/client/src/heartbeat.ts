import type { Environment } from './environment.ts';

export interface HeartbeatEvents {
  readonly ping: () => void;
  /** True: the other side owes an answer for too long. False: it answered after all. */
  readonly quiet: (quiet: boolean) => void;
  readonly dead: () => void;
}

const PING_AFTER_MS = 3_000;
const QUIET_AFTER_MS = 6_000;
const DEAD_AFTER_MS = 9_000;

/** Watches one connection's traffic: silence is first asked about, then told, then taken for death. */
export class Heartbeat {
  readonly #environment: Environment;
  readonly #events: HeartbeatEvents;
  #heardAt: number;
  #asked = false;
  #quiet = false;
  #cancel: () => void;

  constructor(environment: Environment, events: HeartbeatEvents) {
    this.#environment = environment;
    this.#events = events;
    this.#heardAt = environment.now();
    this.#cancel = this.#later(PING_AFTER_MS);
  }

  heard(): void {
    this.#heardAt = this.#environment.now();
    this.#asked = false;
    if (!this.#quiet) return;
    this.#quiet = false;
    this.#events.quiet(false);
  }

  /**
   * Asks now instead of at the next beat: the tab slept, or the network changed. The time for the answer starts here, so that
   * a sleep is not taken for a missing answer; but rows that old are called old at once.
   */
  probe(): void {
    this.#cancel();
    if (this.#silence() >= QUIET_AFTER_MS) this.#tellQuiet();
    this.#asked = true;
    this.#heardAt = this.#environment.now() - PING_AFTER_MS;
    this.#events.ping();
    this.#cancel = this.#later(QUIET_AFTER_MS - PING_AFTER_MS);
  }

  stop(): void {
    this.#cancel();
  }

  #beat(): void {
    const silence = this.#silence();
    if (silence < PING_AFTER_MS) return this.#wait(PING_AFTER_MS - silence);
    if (!this.#asked) return this.probe();
    if (silence < QUIET_AFTER_MS) return this.#wait(QUIET_AFTER_MS - silence);
    this.#tellQuiet();
    if (silence < DEAD_AFTER_MS) return this.#wait(DEAD_AFTER_MS - silence);
    this.#events.dead();
  }

  #tellQuiet(): void {
    if (this.#quiet) return;
    this.#quiet = true;
    this.#events.quiet(true);
  }

  /** Never negative: a clock that was set back must not stretch the wait. */
  #silence(): number {
    const now = this.#environment.now();
    if (now < this.#heardAt) this.#heardAt = now;
    return now - this.#heardAt;
  }

  #wait(ms: number): void {
    this.#cancel = this.#later(ms);
  }

  #later(ms: number): () => void {
    return this.#environment.after(ms, () => {
      this.#beat();
    });
  }
}
