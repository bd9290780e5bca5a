import type { ElementRef } from '@angular/core';
import { Component, viewChild } from '@angular/core';
import { SHORTCUTS } from './shortcuts.ts';

/** Every shortcut, in a dialog. */
@Component({
  selector: 'tablecast-shortcut-list',
  templateUrl: './shortcut-list.html',
})
export class ShortcutList {
  protected readonly shortcuts = SHORTCUTS;
  protected readonly dialog = viewChild.required<ElementRef<HTMLDialogElement>>('dialog');

  open(): void {
    const { nativeElement } = this.dialog();
    if (!nativeElement.open) nativeElement.showModal();
  }
}
