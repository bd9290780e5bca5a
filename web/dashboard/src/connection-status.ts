import { Component, computed, inject, input } from '@angular/core';
import { injectLiveTable } from '@tablecast/live-table';
import { Session } from './session.ts';

/** How the connection stands, in one word, with the reason and the generation that is shown. */
@Component({
  selector: 'tablecast-connection-status',
  templateUrl: './connection-status.html',
})
export class ConnectionStatus {
  readonly table = input.required<string>();

  readonly #live = injectLiveTable({ table: this.table });
  protected readonly state = inject(Session).state;
  protected readonly generation = computed(() => this.#live.state()?.snapshot?.generation ?? null);
  /** The login form tells why a key was refused: an error is shown once. */
  protected readonly reason = computed(() => {
    const state = this.state();
    return state?.phase === 'refused' ? null : (state?.problem ?? null);
  });
}
