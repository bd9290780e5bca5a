import { Component, computed, inject } from '@angular/core';
import { Session } from '../session.ts';
import { BuildProgress } from './build-progress.ts';
import { Picture } from './picture.ts';

/** Before the first generation is live there is no table to look at: this says so, and how far it is. */
@Component({
  selector: 'tablecast-filling',
  imports: [BuildProgress, Picture],
  templateUrl: './filling.html',
})
export class Filling {
  readonly #session = inject(Session);
  protected readonly reason = computed(() => this.#session.state()?.problem ?? null);
}
