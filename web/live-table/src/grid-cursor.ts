import { computed, signal } from '@angular/core';
import type { Snapshot } from '@tablecast/client';
import type { Place } from './selection.ts';
import { follow, HEADER, isOneCell, rangeOf } from './selection.ts';

/** The active cell, and the range that reaches from where it was to where it is. Both stay with their rows while these tick. */
export class GridCursor {
  readonly #active = signal<Place | null>(null);
  readonly #from = signal<Place | null>(null);

  readonly active = this.#active.asReadonly();
  /** Null where nothing or one cell is chosen. */
  readonly range = computed(() => {
    const [from, to] = [this.#from(), this.#active()];
    if (from === null || to === null || from.index === HEADER || to.index === HEADER) return null;
    const range = rangeOf(from, to);
    return isOneCell(range) ? null : range;
  });

  set(place: Place, extending = false): void {
    this.#active.set(place);
    if (!extending) this.#from.set(place);
  }

  /** Goes on by so many rows and columns, as far as there are any; the header is above the first row. */
  step(rows: number, columns: number, snapshot: Snapshot, columnCount: number, extending: boolean): Place {
    const from = this.#active() ?? { index: snapshot.offset, column: 0, id: null };
    const top = extending || rows < -1 ? 0 : HEADER;
    const index = rows === 0 ? from.index : clamp(from.index + rows, Math.min(top, from.index), snapshot.total - 1);
    const place = { index, column: clamp(from.column + columns, 0, columnCount - 1), id: idAt(snapshot, index) };
    this.set(place, extending);
    return place;
  }

  follow(snapshot: Snapshot, shift: number): void {
    for (const each of [this.#active, this.#from]) {
      const place = each();
      if (place === null) continue;
      const next = follow(place, snapshot, shift);
      const id = next.id ?? idAt(snapshot, next.index);
      each.set(id === next.id ? next : { ...next, id });
    }
  }

  /** Only the active cell stays chosen. */
  narrow(): void {
    this.#from.set(this.#active());
  }

  clear(): void {
    this.#active.set(null);
    this.#from.set(null);
  }
}

export function idAt(snapshot: Snapshot, index: number): string | null {
  return snapshot.rows[index - snapshot.offset]?.id ?? null;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, Math.max(least, most)));
}
