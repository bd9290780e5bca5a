import { computed, inject, linkedSignal, Service } from '@angular/core';
import { ENVIRONMENT } from '../environment.ts';
import { askForJson } from '../server-api.ts';
import { Session } from '../session.ts';
import { Overview } from './overview.ts';
import { repeatWhile } from './pulse.ts';

export interface FillProgress {
  readonly done: number;
  readonly of: number;
  readonly per_second: number;
}

/** A generation as `/api/status` tells of it: the part that is shown. */
export interface GenerationEntry {
  readonly generation: number;
  readonly state: string;
  readonly changed: string;
  readonly progress: FillProgress | null;
  readonly error: string | null;
}

const EVERY_MS = 700;
const COMING = ['building', 'hydrating', 'ready'];

/** The generation in the making, asked for while there is one: what it does, and how far it is. */
@Service()
export class Generations {
  readonly #session = inject(Session);
  readonly #overview = inject(Overview);
  readonly #building = computed(() => (this.#overview.row()?.building ?? null) !== null);
  readonly #all = linkedSignal<unknown, readonly GenerationEntry[]>({ source: this.#session.access, computation: () => [] });

  /** Null when none is being made, or nothing is known of it yet. */
  readonly coming = computed(() => (this.#wanted() ? (this.#all().findLast(({ state }) => COMING.includes(state)) ?? null) : null));

  /** The newest one, where it could not be built and none is being made now. */
  readonly failed = computed(() => {
    const newest = this.#wanted() && this.coming() === null ? this.#all().findLast(({ state }) => state !== 'retired') : undefined;
    return newest?.state === 'failed' ? newest : null;
  });

  readonly #wanted = computed(() => this.#session.access() !== null && this.#session.connected() && (!this.#session.filled() || this.#building()));

  constructor() {
    repeatWhile(inject(ENVIRONMENT), EVERY_MS, this.#wanted, async (signal) => { await this.#read(signal); });
  }

  async #read(signal: AbortSignal): Promise<void> {
    const access = this.#session.access();
    if (access === null) return;
    const { generations } = await askForJson<{ generations: readonly GenerationEntry[] }>(access, '/api/status', { signal });
    this.#all.set(generations);
  }
}
