import type { Signal } from '@angular/core';
import { computed, effect, inject, signal, untracked } from '@angular/core';
import type { LiveTable, Shape, TableState, View } from '@tablecast/client';
import { Pace } from './pace.ts';
import { TABLE_HUB } from './table-hub.ts';

export interface LiveTableOptions {
  readonly table: () => string;
  /** Its sort, filter, search and groups; plain where there is none. */
  readonly view?: () => Shape;
  /** How many rows to show from the first on. Without it, the window goes along with whoever chose one for the same view. */
  readonly pageSize?: () => number;
  /** Called when newer rows wait for the next animation frame: `state` has them in it, for whoever paints then. */
  readonly arriving?: () => void;
}

/**
 * A live table as signals. It follows its options and the hub, and closes with the injector that it was made in. However often rows
 * come, the signal changes with animation frames, and not with each of them while rows come all the time.
 */
export interface LiveTableRef {
  /** Null while there is no hub. The rows of another view of the same table stay until the new ones are there. */
  readonly state: Signal<TableState | null>;
  /** Another window; its size stays unless it is given. */
  move(offset: number, size?: number): void;
  refresh(): void;
  /** Where a row stands in the view, however far from the window; null when it is not in it. */
  find(row: string): Promise<number | null>;
}

/** Call it where `inject()` may be called. Equal windows of equal views of a page share one subscription. */
export function injectLiveTable({ table, view, pageSize, arriving }: LiveTableOptions): LiveTableRef {
  const hub = inject(TABLE_HUB);
  const pace = new Pace(arriving);
  const state = signal<TableState | null>(null);
  const wanted = computed<View>(() => ({ ...view?.(), table: table() }), { equal: sameView });
  let live: LiveTable | null = null;
  let shown: string | null = null;

  effect((onCleanup) => {
    const size = untracked(() => pageSize?.());
    const opened = hub()?.open(wanted(), size === undefined ? null : { offset: 0, size }) ?? null;
    const before = shown === wanted().table ? (untracked(state)?.snapshot ?? null) : null;
    const show = (next: TableState): void => { state.set(next.snapshot === null ? { ...next, snapshot: before } : next); };
    const showSoon = (next: TableState): void => { pace.next(() => { show(next); }); };
    live = opened;
    shown = wanted().table;
    if (opened === null) state.set(null);
    else show(opened.value);
    opened?.watch(showSoon);
    onCleanup(() => {
      pace.cancel();
      live = null;
      void opened?.close();
    });
  });

  effect(() => {
    const size = pageSize?.();
    if (size !== undefined && live !== null) live.move({ offset: live.value.viewport.offset, size });
  });

  return {
    state: state.asReadonly(),
    move: (offset, size) => { live?.move({ offset, size: size ?? live.value.viewport.size }); },
    refresh: () => { live?.refresh(); },
    find: (row) => live?.find(row) ?? Promise.resolve(null),
  };
}

function sameView(left: View, right: View): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
