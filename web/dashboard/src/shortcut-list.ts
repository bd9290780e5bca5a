import type { ElementRef } from '@angular/core';
import { Component, viewChild } from '@angular/core';
import { GRID_KEYS, SHORTCUTS } from './shortcuts.ts';

/** Every shortcut, in a dialog. */
@Component({
  selector: 'tablecast-shortcut-list',
  templateUrl: './shortcut-list.html',
})
export class ShortcutList {
  protected readonly parts = [
    { title: 'Everywhere', keys: SHORTCUTS },
    { title: 'In a table', keys: GRID_KEYS },
  ];
  protected readonly dialog = viewChild.required<ElementRef<HTMLDialogElement>>('dialog');

  open(): void {
    const { nativeElement } = this.dialog();
    if (!nativeElement.open) nativeElement.showModal();
    // The focus is on what closes it, at the end; one reads from the beginning.
    nativeElement.scrollTop = 0;
  }
}
