import type { Signal } from '@angular/core';
import { effect, inject, signal, untracked } from '@angular/core';
import type { LiveTable, TableState } from '@tablecast/client';
import { PAGE_SIZE } from '@tablecast/client';
import { TABLE_HUB } from './table-hub.ts';

export interface LiveTableOptions {
  readonly table: () => string;
  readonly pageSize?: () => number;
}

/** A live table as signals. It follows its options and the hub, and closes with the injector that it was made in. */
export interface LiveTableRef {
  /** Null while there is no hub. */
  readonly state: Signal<TableState | null>;
  move(offset: number): void;
  refresh(): void;
}

/** Call it where `inject()` may be called. Equal tables of a page share one subscription and one window. */
export function injectLiveTable({ table, pageSize = () => PAGE_SIZE }: LiveTableOptions): LiveTableRef {
  const hub = inject(TABLE_HUB);
  const state = signal<TableState | null>(null);
  let live: LiveTable | null = null;

  effect((onCleanup) => {
    const opened = hub()?.open({ table: table() }, { offset: 0, size: pageSize() }) ?? null;
    live = opened;
    state.set(opened?.value ?? null);
    opened?.watch((next) => { state.set(next); });
    onCleanup(() => {
      live = null;
      void opened?.close();
    });
  });

  return {
    state: state.asReadonly(),
    move: (offset) => { live?.move({ offset, size: untracked(pageSize) }); },
    refresh: () => { live?.refresh(); },
  };
}
