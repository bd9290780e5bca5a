import { Component, computed, DestroyRef, inject, linkedSignal, resource } from '@angular/core';
import { problemOf } from '@tablecast/client';
import { moment } from '../format.ts';
import { askForJson } from '../server-api.ts';
import { Session } from '../session.ts';
import { BuildProgress } from '../status/build-progress.ts';
import { Freshness } from '../status/freshness.ts';
import { Overview } from '../status/overview.ts';
import type { Wish } from './control-desk.ts';
import { ControlDesk } from './control-desk.ts';
import { verdictSentence, verdictWord } from './verdict.ts';

interface SourceTopic {
  readonly name: string;
  readonly partitions: number;
}

/** Swaps the topics behind the tables, and how they are joined: asked first, then done, and watched until it is live. */
@Component({
  selector: 'tablecast-operator-panel',
  imports: [BuildProgress],
  templateUrl: './operator-panel.html',
})
export class OperatorPanel {
  static #made = 0;
  readonly #number = ++OperatorPanel.#made;
  readonly #session = inject(Session);
  readonly #freshness = inject(Freshness);
  protected readonly overview = inject(Overview).row;
  protected readonly desk = inject(ControlDesk);
  protected readonly joins = ['left', 'inner'] as const;
  protected readonly word = verdictWord;
  /** The server refuses a viewer's wish anyway: a form for it would promise too much. */
  protected readonly maySwap = computed(() => this.#session.role() === 'operator');

  /** What is live, as text: equal texts are equal wishes. */
  readonly #live = computed(() => {
    const row = this.overview();
    return row === null ? null : JSON.stringify({ topics: row.topics, join: row.join ?? 'left' } satisfies Wish);
  });
  protected readonly wish = linkedSignal<string | null, Wish | null>({
    source: this.#live,
    computation: (live) => (live === null ? null : (JSON.parse(live) as Wish)),
  });
  protected readonly liveTopics = computed(() => Object.entries(this.overview()?.topics ?? {}).map(([name, topic]) => ({ name, topic })));
  protected readonly sources = computed(() => Object.entries(this.wish()?.topics ?? {}).map(([source, topic]) => ({ source, topic })));
  protected readonly changed = computed(() => JSON.stringify(this.wish()) !== this.#live());
  protected readonly verdict = computed(() => {
    const last = this.desk.last();
    return last === null ? null : { ...last, sentence: verdictSentence(last) };
  });

  readonly #topics = resource({
    params: () => this.#session.access() ?? undefined,
    loader: ({ params, abortSignal }) => askForJson<{ topics: readonly SourceTopic[] }>(params, '/api/topics', { signal: abortSignal }),
  });
  protected readonly topics = computed<readonly SourceTopic[]>(() => (this.#topics.hasValue() ? this.#topics.value().topics : []));
  protected readonly topicsProblem = computed(() => {
    const error = this.#topics.error();
    return error === undefined ? null : problemOf(error.cause ?? error);
  });

  constructor() {
    inject(DestroyRef).onDestroy(this.desk.watch());
  }

  /** Two of these panels may stand beside each other. */
  protected idOf(field: string): string {
    return `operator-${String(this.#number)}-${field}`;
  }

  protected choose(source: string, topic: string): void {
    this.wish.update((wish) => wish && { ...wish, topics: { ...wish.topics, [source]: topic.trim() } });
  }

  protected chooseJoin(join: string): void {
    this.wish.update((wish) => wish && { ...wish, join });
  }

  protected readTopics(): void {
    this.#topics.reload();
  }

  protected send(event: Event, dryRun: boolean): void {
    event.preventDefault();
    const wish = this.wish();
    if (wish !== null && this.changed()) void this.desk.send(wish, dryRun);
  }

  protected when(iso: string): string {
    return moment(iso, this.#freshness.now());
  }

  /** The one that is chosen may not be there any more. */
  protected isMissing(topic: string): boolean {
    return !this.topics().some(({ name }) => name === topic);
  }
}
