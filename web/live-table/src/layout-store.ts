import { DOCUMENT, inject, Service } from '@angular/core';
import type { ColumnLayout } from './column-layout.ts';
import { PLAIN_LAYOUT } from './column-layout.ts';
import { ViewerStorage } from './viewer-storage.ts';

/** Keeps column layouts for this viewer, in this browser. */
@Service()
export class LayoutStore {
  readonly #window = inject(DOCUMENT).defaultView;
  readonly #storage = new ViewerStorage(() => this.#window?.localStorage);

  read(key: string): ColumnLayout {
    try {
      const kept = JSON.parse(this.#storage.read(key) ?? 'null') as Partial<ColumnLayout> | null;
      return { order: names(kept?.order), hidden: names(kept?.hidden), pinned: names(kept?.pinned), widths: widths(kept?.widths) };
    } catch {
      return PLAIN_LAYOUT;
    }
  }

  keep(key: string, layout: ColumnLayout): void {
    this.#storage.keep(key, JSON.stringify(layout));
  }
}

function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

function widths(value: unknown): Readonly<Record<string, number>> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}
