import { signal } from '@angular/core';
import { countText } from './cell-text.ts';
import type { TablePicture } from './table-picture.ts';

/** What came of a view, once it is shown. */
export interface Outcome {
  /** Views that show the same rows, in whatever order, have the same name. */
  readonly name: string;
  readonly picture: TablePicture | null;
  readonly narrowed: boolean;
  readonly total: number;
}

/** What the grid says to those who cannot see it, by the one element that a screen reader listens to. */
export class GridVoice {
  readonly #words = signal('');
  readonly words = this.#words.asReadonly();
  #told: string | null = null;

  say(words: string): void {
    this.#words.set(words);
  }

  /** Says an outcome once, and not at each tick. The rows that one finds in a table at first speak for themselves. */
  tell(outcome: Outcome): void {
    const told = `${outcome.name} ${outcome.picture?.kind ?? 'rows'}`;
    if (told === this.#told) return;
    const expected = this.#told === null && outcome.picture === null && !outcome.narrowed;
    this.#told = told;
    if (!expected) this.say(wordsOf(outcome));
  }

  /** Another table: nothing is known of it. */
  forget(): void {
    this.#told = null;
    this.#words.set('');
  }
}

function wordsOf({ picture, narrowed, total }: Outcome): string {
  if (picture !== null) return `${picture.title}. ${picture.words}`.trim();
  const rows = `${countText(total)} ${total === 1 ? 'row' : 'rows'}`;
  return narrowed ? `${rows} found` : rows;
}
