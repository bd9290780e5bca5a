import type { Signal } from '@angular/core';
import { linkedSignal } from '@angular/core';

/** The row that was chosen from outside, as by a link: it comes into view once, wherever it stands. */
export class RowLink {
  readonly #row: Signal<string | null>;
  readonly #find: (row: string) => Promise<number | null>;
  readonly #show: (index: number, row: string) => void;
  /** The row that was last chosen in the grid itself, or brought into view: it need not be looked for. */
  #known: string | null = null;

  /** A row that this view does not have. */
  readonly missing = linkedSignal<string | null, string | null>({ source: () => this.#row(), computation: () => null });

  constructor(row: Signal<string | null>, find: (row: string) => Promise<number | null>, show: (index: number, row: string) => void) {
    this.#row = row;
    this.#find = find;
    this.#show = show;
  }

  know(row: string | null): void {
    this.#known = row;
  }

  async bring(): Promise<void> {
    const row = this.#row();
    if (row === this.#known) return;
    this.#known = row;
    const index = row === null ? null : await this.#find(row);
    // The rows of a view that is new here are painted from the first one on before others can be gone to.
    await new Promise(requestAnimationFrame);
    if (row === null || row !== this.#row()) return;
    this.missing.set(index === null ? row : null);
    // Another view of the table may have it.
    if (index === null) this.#known = null;
    else this.#show(index, row);
  }
}
