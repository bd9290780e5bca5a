import { Component, inject, linkedSignal } from '@angular/core';
import type { Catalogue } from '@tablecast/client';
import { LiveTableGrid, provideTableHub } from '@tablecast/live-table';
import { ConnectionStatus } from './connection-status.ts';
import { Login } from './login.ts';
import { Session } from './session.ts';
import { TablePicker } from './table-picker.ts';

const FIRST_TABLE = 'users_ui';

@Component({
  selector: 'tablecast-dashboard',
  imports: [ConnectionStatus, LiveTableGrid, Login, TablePicker],
  providers: [provideTableHub(() => inject(Session).hub)],
  templateUrl: './dashboard.html',
  host: { '(window:hashchange)': 'session.followAddress()' },
})
export class Dashboard {
  protected readonly session = inject(Session);
  protected readonly table = linkedSignal<Catalogue | null, string>({
    source: this.session.catalogue,
    computation: (catalogue, before) => shownTable(catalogue, before?.value ?? FIRST_TABLE),
  });

  constructor() {
    this.session.resume();
  }
}

/** A server that does not have the table shows its first one. */
function shownTable(catalogue: Catalogue | null, wanted: string): string {
  const names = catalogue?.tables.map(({ name }) => name) ?? [];
  return names.includes(wanted) ? wanted : (names[0] ?? wanted);
}
