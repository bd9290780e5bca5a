import { Component, computed, inject } from '@angular/core';
import { Keyring } from './keyring.ts';
import { Session } from './session.ts';
import { Picture } from './status/picture.ts';

/** The way in, and why it is shut: the key is wrong, or nobody answers. */
@Component({
  selector: 'tablecast-login',
  imports: [Picture],
  templateUrl: './login.html',
})
export class Login {
  readonly #session = inject(Session);
  protected readonly origin = inject(Keyring).origin;
  protected readonly problem = this.#session.problem;
  protected readonly waiting = computed(() => this.#session.hub() !== null);
  /** Nobody answers: the page goes on trying by itself. */
  protected readonly away = computed(() => {
    const state = this.#session.state();
    return state?.phase === 'reconnecting' ? (state.problem ?? null) : null;
  });
  protected readonly picture = computed(() => {
    if (this.away() !== null) return 'lost';
    return this.problem() === null ? 'door' : 'shut';
  });

  protected enter(event: Event, url: string, key: string): void {
    event.preventDefault();
    this.#session.enter({ url, key });
  }
}
