import { TablecastError } from './errors.ts';
import type { Holding, Holdings } from './holdings.ts';
import type { TableState } from './table-state.ts';
import { sameTableState } from './table-state.ts';
import type { View, Viewport } from './view.ts';
import { sameViewport, tidyViewport } from './view.ts';
import type { Watchable } from './watched.ts';
import { Watched } from './watched.ts';

/**
 * One holder's hold on a view. Holders of equal views share a subscription as long as they want the same window; one that moves
 * elsewhere gets its own. A holder that never chose a window goes along with those who did.
 */
export class LiveTable implements Watchable<TableState> {
  readonly view: View;
  readonly #holdings: Holdings;
  readonly #state: Watched<TableState>;
  #holding: Holding;
  #chose: boolean;
  #stop: () => void;
  #closed: Promise<void> | null = null;

  constructor(holdings: Holdings, view: View, viewport: Viewport | null) {
    this.view = view;
    this.#holdings = holdings;
    this.#chose = viewport !== null;
    this.#holding = holdings.join(view, viewport === null ? null : tidyViewport(viewport));
    this.#state = new Watched(this.#holding.subscription.state.value, sameTableState);
    this.#stop = this.#follow();
  }

  get value(): TableState {
    return this.#state.value;
  }

  watch(watcher: (state: TableState) => void): () => void {
    this.#mustBeOpen('watched');
    return this.#state.watch(watcher);
  }

  move(viewport: Viewport): void {
    this.#mustBeOpen('moved');
    const wanted = tidyViewport(viewport);
    if (this.#chose && sameViewport(wanted, this.value.viewport)) return;
    const before = this.#holding;
    this.#holding = this.#holdings.move(before, this.#chose, wanted);
    this.#chose = true;
    if (this.#holding === before) return;
    this.#stop();
    this.#stop = this.#follow();
    this.#show(this.#holding.subscription.state.value);
  }

  refresh(): void {
    this.#mustBeOpen('refreshed');
    this.#holding.subscription.refresh();
  }

  /** Where a row stands in the view, however far from the window; null when it is not in it. */
  find(row: string): Promise<number | null> {
    this.#mustBeOpen('searched');
    return this.#holding.subscription.find(row);
  }

  /** Resolves when the server has closed the view, or at once while others hold it. Its watchers hear nothing more. */
  close(): Promise<void> {
    if (this.#closed === null) {
      this.#stop();
      this.#state.silence();
      this.#closed = this.#holdings.leave(this.#holding, this.#chose);
    }
    return this.#closed;
  }

  #follow(): () => void {
    return this.#holding.subscription.state.watch((state) => { this.#show(state); });
  }

  /** The rows of the window that was left stay until those of the new one are there. */
  #show(state: TableState): void {
    this.#state.set(state.snapshot === null ? { ...state, snapshot: this.value.snapshot } : state);
  }

  #mustBeOpen(step: string): void {
    if (this.#closed === null) return;
    throw new TablecastError('closed_table', `'${this.view.table}' was closed and cannot be ${step}.`, 'Open it again.');
  }
}
