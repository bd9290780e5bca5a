import { computed, signal } from '@angular/core';
import type { GridCursor } from './grid-cursor.ts';
import { rangeWords } from './selection.ts';

/** Cells chosen by single taps or clicks: the first of a range, then the last. For whoever can neither drag nor hold a key. */
export class RangeTaps {
  readonly #cursor: GridCursor;
  readonly #awaits = signal<'first' | 'last' | null>(null);

  readonly on = computed(() => this.#awaits() !== null);
  readonly words = computed(() => {
    const range = this.#cursor.range();
    if (this.#awaits() === 'last' && range !== null) return `${rangeWords(range)} chosen.`;
    return `Choose the ${this.#awaits() ?? 'first'} cell.`;
  });

  constructor(cursor: GridCursor) {
    this.#cursor = cursor;
  }

  begin(): void {
    this.#cursor.narrow();
    this.#awaits.set('first');
  }

  end(): void {
    this.#awaits.set(null);
  }

  /** A cell was tapped. Whether the range that was begun reaches there. */
  tapped(): boolean {
    const awaited = this.#awaits();
    if (awaited === 'first') this.#awaits.set('last');
    return awaited === 'last';
  }
}
