import { computed, DOCUMENT, inject, linkedSignal, Service } from '@angular/core';
import { ENVIRONMENT } from '../environment.ts';
import { askServer } from '../server-api.ts';
import { Session } from '../session.ts';
import type { Figures } from './exposition.ts';
import { rateBetween, readFigures } from './exposition.ts';
import { repeatWhile } from './pulse.ts';

export const READ_EVERY_MS = 2_000;
const KEPT = 150;
/** A rate over two readings jumps; over this many it is calm. */
const CALM = 5;

/** The server's own counts, read every two seconds while somebody looks: the last five minutes of them. */
@Service()
export class FiguresLog {
  readonly #session = inject(Session);
  readonly #document = inject(DOCUMENT);
  readonly #environment = inject(ENVIRONMENT);
  /** Of one stay: another server counts for itself. */
  readonly #log = linkedSignal<unknown, readonly Figures[]>({ source: this.#session.access, computation: () => [] });

  /** Oldest first. */
  readonly log = this.#log.asReadonly();
  readonly latest = computed(() => this.#log().at(-1) ?? null);

  constructor() {
    const wanted = computed(() => this.#session.filled() && this.#session.access() !== null);
    repeatWhile(this.#environment, READ_EVERY_MS, wanted, async (signal) => { await this.#read(signal); });
  }

  /** Changes of a table a second, lately; null while that is not known. */
  rateOf(table: string): number | null {
    const log = this.#log();
    const [first, last] = [log.at(-CALM) ?? log[0], log.at(-1)];
    return first === undefined || last === undefined || first === last ? null : rateBetween(first, last, [table]);
  }

  async #read(signal: AbortSignal): Promise<void> {
    const access = this.#session.access();
    if (access === null || this.#document.visibilityState === 'hidden') return;
    const figures = readFigures(await askServer(access, '/metrics', { signal }), this.#environment.now());
    this.#log.update((log) => [...log, figures].slice(-KEPT));
  }
}
