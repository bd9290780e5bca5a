import type { Signal } from '@angular/core';
import { DOCUMENT, inject } from '@angular/core';
import type { Snapshot } from '@tablecast/client';
import { NOT_COPIED, putOnClipboard } from './clipboard.ts';
import type { PlacedColumn } from './column-layout.ts';
import type { GridCursor } from './grid-cursor.ts';
import type { GridVoice } from './grid-voice.ts';
import { copied, copiedWords, HEADER } from './selection.ts';

/** Copies the chosen cells, or the active one, and says what was copied. Made where `inject()` may be called. */
export class CellCopier {
  readonly #document = inject(DOCUMENT);
  readonly #cursor: GridCursor;
  readonly #snapshot: Signal<Snapshot | null>;
  readonly #columns: Signal<readonly PlacedColumn[]>;
  readonly #voice: GridVoice;

  constructor(cursor: GridCursor, snapshot: Signal<Snapshot | null>, columns: Signal<readonly PlacedColumn[]>, voice: GridVoice) {
    this.#cursor = cursor;
    this.#snapshot = snapshot;
    this.#columns = columns;
    this.#voice = voice;
  }

  /** With the keys of the browser. */
  answer(event: ClipboardEvent): void {
    const taken = this.#taken();
    if (taken === null) return;
    event.clipboardData?.setData('text/plain', taken.text);
    event.preventDefault();
    this.#voice.show(taken.words);
  }

  /** By a button. */
  async copy(): Promise<void> {
    const taken = this.#taken();
    if (taken === null) return;
    const done = await putOnClipboard(this.#document, taken.text);
    this.#voice.show(done ? taken.words : NOT_COPIED);
  }

  #taken(): { readonly text: string; readonly words: string } | null {
    const [snapshot, active] = [this.#snapshot(), this.#cursor.active()];
    if (snapshot === null || active === null || active.index === HEADER) return null;
    const { index, column } = active;
    const range = this.#cursor.range() ?? { top: index, bottom: index, left: column, right: column };
    const taken = copied(range, snapshot, this.#columns());
    return { text: taken.text, words: copiedWords(taken, range) };
  }
}
