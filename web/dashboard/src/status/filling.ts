import { Component, computed, inject } from '@angular/core';
import { Session } from '../session.ts';
import { BuildProgress } from './build-progress.ts';
import { Generations } from './generations.ts';
import { Picture } from './picture.ts';

/** Before the first generation is live there is no table to look at: this says so, and how far it is, or why it failed. */
@Component({
  selector: 'tablecast-filling',
  imports: [BuildProgress, Picture],
  templateUrl: './filling.html',
})
export class Filling {
  readonly #session = inject(Session);
  /** The last attempt came to nothing, and the next one has not begun. */
  protected readonly failed = inject(Generations).failed;
  protected readonly reason = computed(() => this.#session.state()?.problem ?? null);
}
