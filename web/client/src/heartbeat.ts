import type { Environment } from './environment.ts';

export interface HeartbeatEvents {
  readonly ping: () => void;
  /** True: the other side owes an answer for too long. False: it answered after all. */
  readonly quiet: (quiet: boolean) => void;
  readonly dead: () => void;
}

/** How long an answer may take before it is told that it is late, and before it is waited for no more. */
interface Patience {
  readonly quietMs: number;
  readonly deadMs: number;
}

const PING_AFTER_MS = 3_000;
const USUALLY: Patience = { quietMs: 3_000, deadMs: 6_000 };
/** When the network or the tab was away, the socket has often gone with it, and somebody looks. */
const WOKEN: Patience = { quietMs: 1_000, deadMs: 2_000 };
const OLD_AFTER_MS = PING_AFTER_MS + USUALLY.quietMs;

/** Watches one connection's traffic: silence is first asked about, then told, then taken for death. */
export class Heartbeat {
  readonly #environment: Environment;
  readonly #events: HeartbeatEvents;
  #heardAt: number;
  /** Null while no answer is owed. */
  #askedAt: number | null = null;
  #patience = USUALLY;
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
    this.#askedAt = null;
    if (!this.#quiet) return;
    this.#quiet = false;
    this.#events.quiet(false);
  }

  /**
   * Asks now instead of at the next beat, and waits less long: the tab slept, or the network changed. The time for the answer starts
   * here, so that a sleep is not taken for a missing answer; but rows that old are called old at once. Whoever asks again
   * meanwhile does not make the wait longer.
   */
  probe(): void {
    const asked = this.#askedAt !== null && this.#patience === WOKEN && this.#owed() < WOKEN.deadMs;
    if (asked) return;
    if (this.#silence() >= OLD_AFTER_MS) this.#tellQuiet();
    this.#ask(WOKEN);
  }

  /** The network has gone, as far as the browser knows: the rows are called old until an answer says otherwise. */
  doubt(): void {
    this.#tellQuiet();
    this.probe();
  }

  stop(): void {
    this.#cancel();
  }

  #ask(patience: Patience): void {
    this.#cancel();
    this.#askedAt = this.#environment.now();
    this.#patience = patience;
    this.#events.ping();
    this.#wait(patience.quietMs);
  }

  #beat(): void {
    if (this.#askedAt === null) {
      const silence = this.#silence();
      return silence < PING_AFTER_MS ? this.#wait(PING_AFTER_MS - silence) : this.#ask(USUALLY);
    }
    const [owed, { quietMs, deadMs }] = [this.#owed(), this.#patience];
    if (owed < quietMs) return this.#wait(quietMs - owed);
    this.#tellQuiet();
    if (owed < deadMs) return this.#wait(deadMs - owed);
    this.#events.dead();
  }

  #tellQuiet(): void {
    if (this.#quiet) return;
    this.#quiet = true;
    this.#events.quiet(true);
  }

  #silence(): number {
    this.#heardAt = this.#past(this.#heardAt);
    return this.#environment.now() - this.#heardAt;
  }

  #owed(): number {
    this.#askedAt = this.#past(this.#askedAt ?? Number.POSITIVE_INFINITY);
    return this.#environment.now() - this.#askedAt;
  }

  /** A clock that was set back must not stretch the wait. */
  #past(moment: number): number {
    return Math.min(moment, this.#environment.now());
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
