import type { ElementRef, Signal } from '@angular/core';
import { computed, DOCUMENT, inject, linkedSignal } from '@angular/core';
import type { GridPanel } from './grid-panel.ts';
import { panelTitle } from './grid-panel.ts';

/** The panel beside the rows, one at a time, and where the focus goes when it is closed. Made where `inject()` may be called. */
export class GridSide {
  readonly #document = inject(DOCUMENT);
  readonly #table: () => string;
  readonly #aside: Signal<ElementRef<HTMLElement> | undefined>;
  readonly #panel = linkedSignal<string, GridPanel | null>({ source: () => this.#table(), computation: () => null });
  /** What had the focus before a panel was opened. */
  #opener: HTMLElement | null = null;

  readonly panel = this.#panel.asReadonly();
  readonly title = computed(() => {
    const panel = this.#panel();
    return panel === null ? '' : panelTitle(panel);
  });

  constructor(table: () => string, aside: Signal<ElementRef<HTMLElement> | undefined>) {
    this.#table = table;
    this.#aside = aside;
  }

  open(panel: GridPanel): void {
    const focused = this.#document.activeElement;
    if (focused instanceof HTMLElement && !this.#aside()?.nativeElement.contains(focused)) this.#opener = focused;
    this.#panel.set(panel);
    requestAnimationFrame(() => this.#aside()?.nativeElement.querySelector<HTMLElement>('[data-first]')?.focus());
  }

  /** The focus goes back to what opened it; `toRows` is called where that was a cell, or is gone, as the head of a column that was hidden here. */
  close(toRows: () => void): void {
    const opener = this.#opener;
    this.#opener = null;
    this.#panel.set(null);
    requestAnimationFrame(() => {
      if (opener?.isConnected && opener !== this.#document.body && opener.closest('tbody') === null) opener.focus();
      else toRows();
    });
  }
}
