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

/** Long enough to be read in passing. */
const SHOWN_MS = 6_000;

/** What the grid says: to those who cannot see it, by the one element that a screen reader listens to; and of what nothing else shows, to all. */
export class GridVoice {
  readonly #words = signal('');
  readonly #note = signal<string | null>(null);
  readonly words = this.#words.asReadonly();
  /** What is to be read on the screen too, for a moment. */
  readonly note = this.#note.asReadonly();
  #told: string | null = null;
  #hiding: ReturnType<typeof setTimeout> | undefined;

  say(words: string): void {
    this.#words.set(words);
  }

  /** Says it, and shows it for a few seconds: what somebody did has no other sign. */
  show(words: string): void {
    this.say(words);
    this.#note.set(words);
    clearTimeout(this.#hiding);
    this.#hiding = setTimeout(() => { this.#note.set(null); }, SHOWN_MS);
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
    this.#note.set(null);
    clearTimeout(this.#hiding);
  }
}

function wordsOf({ picture, narrowed, total }: Outcome): string {
  if (picture !== null) return `${picture.title}. ${picture.words}`.trim();
  const rows = `${countText(total)} ${total === 1 ? 'row' : 'rows'}`;
  return narrowed ? `${rows} found` : rows;
}
