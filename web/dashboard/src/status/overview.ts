import { computed, effect, inject, Service, untracked } from '@angular/core';
import type { Cell } from '@tablecast/client';
import { injectView } from '../inject-view.ts';
import { Session } from '../session.ts';

/** The one row of `orchestrator_status`. */
export interface OrchestratorRow {
  /** Source to topic. */
  readonly topics: Readonly<Record<string, string>>;
  readonly join: string | null;
  readonly lastApplied: string | null;
  readonly generation: number | null;
  readonly state: string | null;
  /** The generation in the making. */
  readonly building: number | null;
  readonly lastError: string | null;
}

const TOPIC = /^(.+)Topic$/;

/** What is live, and what is being made, as the orchestrator last said. */
@Service()
export class Overview {
  readonly #session = inject(Session);
  readonly #table = injectView(this.#session.hub, () => ({ table: 'orchestrator_status' }), { offset: 0, size: 10 });

  /** The generation that this server shows. */
  readonly generation = computed(() => this.#table()?.snapshot?.generation ?? null);
  #known: number | null = null;
  readonly row = computed<OrchestratorRow | null>(() => {
    const snapshot = this.#table()?.snapshot;
    const cells = snapshot?.rows[0]?.cells;
    return snapshot === null || snapshot === undefined || cells === undefined ? null : readRow(snapshot.columns.map(({ name }) => name), cells);
  });

  constructor() {
    effect(() => {
      const generation = this.generation();
      if (generation !== null && this.#known !== null && generation !== this.#known) untracked(() => { this.#session.readAgain(); });
      this.#known = generation;
    });
  }
}

function readRow(names: readonly string[], cells: readonly Cell[]): OrchestratorRow {
  const row = new Map(names.map((name, index) => [name, cells[index] ?? null]));
  const text = (name: string): string | null => {
    const cell = row.get(name) ?? null;
    return cell === null ? null : String(cell);
  };
  const number = (name: string): number | null => {
    const cell = text(name);
    return cell === null ? null : Number(cell);
  };
  const topics = names.flatMap((name) => {
    const [, source] = TOPIC.exec(name) ?? [];
    const topic = text(name);
    return source === undefined || topic === null ? [] : [[source, topic] as const];
  });
  return {
    topics: Object.fromEntries(topics),
    join: text('joinType'),
    lastApplied: text('lastApplied'),
    generation: number('generation'),
    state: text('state'),
    building: number('building'),
    lastError: text('lastError'),
  };
}
