import { computed, inject, linkedSignal, Service, signal } from '@angular/core';
import type { Problem } from '@tablecast/client';
import { problemOf } from '@tablecast/client';
import { ENVIRONMENT } from '../environment.ts';
import { injectView } from '../inject-view.ts';
import { askForJson } from '../server-api.ts';
import { Session } from '../session.ts';
import type { ControlRow } from './verdict.ts';
import { controlRows } from './verdict.ts';

/** What a control message asks for. */
export interface Wish {
  readonly topics: Readonly<Record<string, string>>;
  readonly join: string;
}

interface Sent {
  /** Null if the server knew without sending it that nothing would change. */
  readonly id: string | null;
  readonly dryRun: boolean;
}

const HISTORY = { offset: 0, size: 50 };
const APART_MS = 2_000;

/** Hands control messages in, one at a time and not too often, and follows what becomes of them. */
@Service()
export class ControlDesk {
  readonly #session = inject(Session);
  readonly #environment = inject(ENVIRONMENT);
  readonly #open = signal(0);
  /** Of one stay, as is the problem. */
  readonly #sent = linkedSignal<unknown, Sent | null>({ source: this.#session.access, computation: () => null });
  readonly #resting = signal(false);
  readonly #problem = linkedSignal<unknown, Problem | null>({ source: this.#session.access, computation: () => null });
  readonly #table = injectView(
    this.#session.hub,
    () => (this.#open() > 0 ? { table: 'control_raw', sort: [{ column: 'received', descending: true }] } : null),
    HISTORY,
  );

  /** The newest first. */
  readonly history = computed(() => controlRows(this.#table()?.snapshot ?? null));
  /** A message is on its way, or the last one was a moment ago. */
  readonly resting = this.#resting.asReadonly();
  /** Why the last message was not taken. */
  readonly problem = this.#problem.asReadonly();
  /** The row of the message that was sent last from here. */
  readonly last = computed<ControlRow | null>(() => {
    const sent = this.#sent();
    if (sent === null) return null;
    const known = this.history().find(({ id }) => id === sent.id);
    if (known !== undefined) return known;
    const usual = { id: sent.id ?? '', received: '', asked: '', dryRun: sent.dryRun, generation: null };
    return sent.id === null ? { ...usual, verdict: 'no_change', reason: 'this is shown already' } : { ...usual, verdict: 'pending', reason: null };
  });

  /** Follows `control_raw` until the returned function is called. */
  watch(): () => void {
    this.#open.update((open) => open + 1);
    return () => { this.#open.update((open) => open - 1); };
  }

  async send({ topics, join }: Wish, dryRun: boolean): Promise<void> {
    const access = this.#session.access();
    if (access === null || this.#resting()) return;
    this.#resting.set(true);
    this.#problem.set(null);
    try {
      const body = { topics, joinType: join, ...(dryRun ? { dryRun } : {}) };
      const { id = null } = await askForJson<{ id?: string }>(access, '/api/control', { body });
      this.#sent.set({ id, dryRun });
    } catch (error) {
      this.#sent.set(null);
      this.#problem.set(problemOf(error));
    } finally {
      this.#environment.after(APART_MS, () => { this.#resting.set(false); });
    }
  }
}
