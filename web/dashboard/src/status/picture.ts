import { Component, input } from '@angular/core';

export type PictureKind = 'lost' | 'stale' | 'failed' | 'note' | 'filling' | 'door' | 'shut';

/** A small drawing beside words that say the same. */
@Component({
  selector: 'tablecast-picture',
  templateUrl: './picture.html',
})
export class Picture {
  readonly kind = input.required<PictureKind>();
}
