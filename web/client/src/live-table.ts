import { TablecastError } from './errors.ts';
import type { Subscription } from './subscription.ts';
import type { TableState } from './table-state.ts';
import type { View, Viewport } from './view.ts';
import { tidyViewport } from './view.ts';
import type { Watchable } from './watched.ts';

/** One holder's hold on a view. Holders of equal views share its window: a move of one is a move of all. */
export class LiveTable implements Watchable<TableState> {
  readonly #subscription: Subscription;
  readonly #release: () => Promise<void>;
  readonly #stops = new Set<() => void>();
  #closed: Promise<void> | null = null;

  constructor(subscription: Subscription, release: () => Promise<void>) {
    this.#subscription = subscription;
    this.#release = release;
  }

  get view(): View {
    return this.#subscription.view;
  }

  get value(): TableState {
    return this.#subscription.state.value;
  }

  watch(watcher: (state: TableState) => void): () => void {
    this.#mustBeOpen('watched');
    const stop = this.#subscription.state.watch(watcher);
    this.#stops.add(stop);
    return () => {
      this.#stops.delete(stop);
      stop();
    };
  }

  move(viewport: Viewport): void {
    this.#mustBeOpen('moved');
    this.#subscription.move(tidyViewport(viewport));
  }

  refresh(): void {
    this.#mustBeOpen('refreshed');
    this.#subscription.refresh();
  }

  /** Resolves when the server has closed the view, or at once while others hold it. Its watchers hear nothing more. */
  close(): Promise<void> {
    if (this.#closed === null) {
      for (const stop of this.#stops) stop();
      this.#stops.clear();
      this.#closed = this.#release();
    }
    return this.#closed;
  }

  #mustBeOpen(step: string): void {
    if (this.#closed === null) return;
    throw new TablecastError('closed_table', `'${this.view.table}' was closed and cannot be ${step}.`, 'Open it again.');
  }
}
