import { Component, computed, inject } from '@angular/core';
import { amount } from '../format.ts';
import { Generations } from './generations.ts';

const WORDS: Readonly<Record<string, string>> = {
  building: 'is being prepared',
  hydrating: 'is being filled',
  ready: 'is ready and goes live',
};

/** The generation in the making, with a bar; nothing while there is none. */
@Component({
  selector: 'tablecast-build-progress',
  templateUrl: './build-progress.html',
})
export class BuildProgress {
  protected readonly coming = inject(Generations).coming;
  protected readonly title = computed(() => {
    const coming = this.coming();
    return coming === null ? '' : `Generation ${String(coming.generation)} ${WORDS[coming.state] ?? coming.state}`;
  });
  protected readonly progress = computed(() => {
    const progress = this.coming()?.progress ?? null;
    return progress === null || progress.of === 0 ? null : progress;
  });
  protected readonly told = computed(() => {
    const progress = this.progress();
    if (progress === null) return '';
    return `${amount(progress.done)} of ${amount(progress.of)} records, ${amount(progress.per_second)} a second`;
  });
}
