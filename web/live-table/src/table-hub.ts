import type { FactoryProvider, Signal } from '@angular/core';
import { effect, inject, InjectionToken, signal } from '@angular/core';
import type { ConnectionState, TableHub } from '@tablecast/client';

/** The hub that live tables are opened on; null while there is none, as before a login. */
export const TABLE_HUB = new InjectionToken<Signal<TableHub | null>>('TABLE_HUB');

export function provideTableHub(hub: () => Signal<TableHub | null>): FactoryProvider {
  return { provide: TABLE_HUB, useFactory: hub };
}

/** How the connection of the hub stands, as a signal. Call it where `inject()` may be called. */
export function injectConnection(): Signal<ConnectionState | null> {
  const hub = inject(TABLE_HUB);
  const state = signal<ConnectionState | null>(null);
  effect((onCleanup) => {
    const connection = hub()?.connection ?? null;
    state.set(connection?.value ?? null);
    const stop = connection?.watch((next) => { state.set(next); });
    onCleanup(() => stop?.());
  });
  return state.asReadonly();
}
