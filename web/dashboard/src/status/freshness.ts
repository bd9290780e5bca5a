import { computed, inject, linkedSignal, Service, signal } from '@angular/core';
import { ENVIRONMENT, Session } from '../session.ts';
import { repeatWhile } from './pulse.ts';

const TICK_MS = 1_000;

/** The time, to the second, and since when the rows may be old. */
@Service()
export class Freshness {
  readonly #session = inject(Session);
  readonly #environment = inject(ENVIRONMENT);
  readonly #now = signal(this.#environment.now());

  readonly now = this.#now.asReadonly();
  /** The last moment at which the rows were known to be the newest there are; null before the first. */
  readonly currentAt = linkedSignal<{ hub: unknown; live: boolean; now: number }, number | null>({
    source: () => ({ hub: this.#session.hub(), live: this.#session.state()?.phase === 'live', now: this.#now() }),
    computation: ({ hub, live, now }, before) => (live ? now : before !== undefined && before.source.hub === hub ? before.value : null),
  }).asReadonly();
  /** How old the rows may be, in milliseconds: 0 while they are live. */
  readonly age = computed(() => {
    const at = this.currentAt();
    return at === null ? null : this.#now() - at;
  });

  constructor() {
    const wanted = computed(() => this.#session.hub() !== null);
    repeatWhile(this.#environment, TICK_MS, wanted, () => {
      this.#now.set(this.#environment.now());
      return Promise.resolve();
    });
  }
}
