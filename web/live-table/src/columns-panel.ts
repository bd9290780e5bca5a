import { Component, computed, input, model } from '@angular/core';
import type { Column } from '@tablecast/client';
import type { ColumnLayout } from './column-layout.ts';
import { ordered, PLAIN_LAYOUT, shown, withMoved, withPinned, withShown } from './column-layout.ts';

/** Which columns are shown, in which order, and which of them are held at the start. */
@Component({
  selector: 'live-table-columns-panel',
  templateUrl: './columns-panel.html',
})
export class ColumnsPanel {
  readonly columns = input.required<readonly Column[]>();
  readonly layout = model.required<ColumnLayout>();

  protected readonly ordered = computed(() => ordered(this.columns(), this.layout()));
  protected readonly shown = computed(() => new Set(shown(this.columns(), this.layout()).map(({ name }) => name)));

  protected show(name: string, wanted: boolean): void {
    this.layout.update((layout) => withShown(layout, this.columns(), name, wanted));
  }

  protected pin(name: string): void {
    this.layout.update((layout) => withPinned(layout, name, !layout.pinned.includes(name)));
  }

  protected move(name: string, by: number): void {
    this.layout.update((layout) => withMoved(layout, this.columns(), name, by));
  }

  protected reset(): void {
    this.layout.set(PLAIN_LAYOUT);
  }
}
