import { DOCUMENT, inject, Service } from '@angular/core';
import type { ColumnLayout } from './column-layout.ts';
import { PLAIN_LAYOUT } from './column-layout.ts';

/** Keeps column layouts for this viewer, in this browser. Where nothing can be kept, everything is as at first. */
@Service()
export class LayoutStore {
  readonly #storage = storageOf(inject(DOCUMENT).defaultView);

  read(key: string): ColumnLayout {
    try {
      const kept = JSON.parse(this.#storage?.getItem(key) ?? 'null') as Partial<ColumnLayout> | null;
      return { order: names(kept?.order), hidden: names(kept?.hidden), pinned: names(kept?.pinned), widths: widths(kept?.widths) };
    } catch {
      return PLAIN_LAYOUT;
    }
  }

  keep(key: string, layout: ColumnLayout): void {
    try {
      this.#storage?.setItem(key, JSON.stringify(layout));
    } catch {
      // A full storage costs the layout of the next visit and nothing now.
    }
  }
}

/** A browser may refuse even to be asked for its storage. */
function storageOf(window: Window | null): Storage | null {
  try {
    return window?.localStorage ?? null;
  } catch {
    return null;
  }
}

function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

function widths(value: unknown): Readonly<Record<string, number>> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}
