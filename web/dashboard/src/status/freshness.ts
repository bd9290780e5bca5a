import { computed, inject, Service, signal } from '@angular/core';
import { ENVIRONMENT } from '../environment.ts';
import { Session } from '../session.ts';
import { repeatWhile } from './pulse.ts';

const TICK_MS = 1_000;

/** The time, to the second, and since when the rows may be old. */
@Service()
export class Freshness {
  readonly #session = inject(Session);
  readonly #environment = inject(ENVIRONMENT);
  readonly #now = signal(this.#environment.now());

  readonly now = this.#now.asReadonly();
  /** The last moment at which the rows were known to be the newest there are, as the hub knows it; null before the first. */
  readonly currentAt = computed(() => {
    // The hub tells it when asked: it is asked every second, and whenever the state changes.
    this.#session.state();
    this.#now();
    return this.#session.hub()?.currentAt ?? null;
  });
  /** How old the rows may be, in milliseconds: the time since the server last said or showed that they are the newest. */
  readonly age = computed(() => {
    const at = this.currentAt();
    return at === null ? null : Math.max(0, this.#now() - at);
  });

  constructor() {
    const wanted = computed(() => this.#session.hub() !== null);
    repeatWhile(this.#environment, TICK_MS, wanted, () => {
      this.#now.set(this.#environment.now());
      return Promise.resolve();
    });
  }
}
