import type { FactoryProvider, Signal } from '@angular/core';
import { InjectionToken } from '@angular/core';
import type { TableHub } from '@tablecast/client';

/** The hub that live tables are opened on; null while there is none, as before a login. */
export const TABLE_HUB = new InjectionToken<Signal<TableHub | null>>('TABLE_HUB');

export function provideTableHub(hub: () => Signal<TableHub | null>): FactoryProvider {
  return { provide: TABLE_HUB, useFactory: hub };
}
