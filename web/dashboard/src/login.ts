import { Component, computed, inject, linkedSignal } from '@angular/core';
import { Keyring } from './keyring.ts';
import { Session } from './session.ts';
import { Picture } from './status/picture.ts';

/** The way in, and why it is shut: the key is wrong, or nobody answers. */
@Component({
  selector: 'tablecast-login',
  imports: [Picture],
  templateUrl: './login.html',
  host: { '(document:securitypolicyviolation)': 'block($event)' },
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
  protected readonly title = computed(() => {
    if (this.away() !== null) return 'The server does not answer';
    return this.problem()?.code === 'token_expired' ? 'Your login has expired' : 'Log in to see the tables';
  });
  /** Why a server of another address is not reached from this page, until one is tried again. */
  protected readonly blocked = linkedSignal<unknown, string | null>({ source: this.#session.hub, computation: () => null });
  protected readonly picture = computed(() => {
    if (this.away() !== null) return 'lost';
    return this.problem() === null ? 'door' : 'shut';
  });

  protected block({ blockedURI }: SecurityPolicyViolationEvent): void {
    this.blocked.set(`This page may talk to its own server only, and not to ${blockedURI}. Open that server's own page, or add it to server.page_servers.`);
  }

  protected enter(event: Event, url: string, key: string): void {
    event.preventDefault();
    this.#session.enter({ url, key });
  }
}
