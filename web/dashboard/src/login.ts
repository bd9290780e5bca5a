import { Component, computed, inject } from '@angular/core';
import { Keyring } from './keyring.ts';
import { Session } from './session.ts';

@Component({
  selector: 'tablecast-login',
  templateUrl: './login.html',
})
export class Login {
  readonly #session = inject(Session);
  protected readonly origin = inject(Keyring).origin;
  protected readonly problem = this.#session.problem;
  protected readonly waiting = computed(() => this.#session.hub() !== null);

  protected enter(event: Event, url: string, key: string): void {
    event.preventDefault();
    this.#session.enter({ url, key });
  }
}
