import type { Signal } from '@angular/core';
import { effect, signal } from '@angular/core';
import type { TableHub, TableState, View, Viewport } from '@tablecast/client';

/** A view as a signal: opened while there is a hub and a view, closed with the injector that it was made in. Null while it is not open. */
export function injectView(hub: Signal<TableHub | null>, view: () => View | null, viewport: Viewport): Signal<TableState | null> {
  const state = signal<TableState | null>(null);
  effect((onCleanup) => {
    const [table, wanted] = [hub(), view()];
    const opened = table === null || wanted === null ? null : table.open(wanted, viewport);
    state.set(opened?.value ?? null);
    opened?.watch((next) => { state.set(next); });
    onCleanup(() => { void opened?.close(); });
  });
  return state.asReadonly();
}
