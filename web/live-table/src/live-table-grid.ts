import type { ElementRef } from '@angular/core';
import { Component, computed, input, linkedSignal, numberAttribute, viewChild } from '@angular/core';
import type { Column, Snapshot, TableState } from '@tablecast/client';
import { PAGE_SIZE } from '@tablecast/client';
import type { Flashes } from './flashes.ts';
import { nextFlashes, settled } from './flashes.ts';
import { injectLiveTable } from './inject-live-table.ts';
import { nextOffset, previousOffset, rangeText } from './paging.ts';

/**
 * One live table, a page of rows at a time. Its look is in `live-table.css`, a plain file that the page links to, so that it
 * also shows under a content security policy that forbids inline styles.
 */
@Component({
  selector: 'live-table',
  templateUrl: './live-table-grid.html',
})
export class LiveTableGrid {
  readonly table = input.required<string>();
  readonly pageSize = input(PAGE_SIZE, { transform: numberAttribute });

  readonly #live = injectLiveTable({ table: this.table, pageSize: this.pageSize });
  protected readonly scroll = viewChild.required<ElementRef<HTMLElement>>('scrollArea');

  readonly #snapshot = computed(() => this.#live.state()?.snapshot ?? null);
  protected readonly columns = computed(() => this.#snapshot()?.columns ?? []);
  protected readonly rows = computed(() => this.#snapshot()?.rows ?? []);
  protected readonly fresh = computed(() => this.#live.state()?.fresh ?? false);
  protected readonly problem = computed(() => this.#live.state()?.problem ?? null);
  protected readonly previous = computed(() => this.#at(previousOffset));
  protected readonly next = computed(() => this.#at(nextOffset));
  protected readonly range = computed(() => this.#at(rangeText) ?? 'not connected');
  /** Said by a screen reader when somebody turns a page; the ticking row count would never let it fall silent. */
  protected readonly announcement = computed(() => {
    const offset = this.#snapshot()?.offset;
    return offset === undefined ? '' : `${this.table()}, from row ${String(offset + 1)}`;
  });
  protected readonly flashes = linkedSignal<Snapshot | null, Flashes>({
    source: this.#snapshot,
    computation: (snapshot, before) => nextFlashes(before?.value, snapshot),
  });

  protected show(offset: number | null): void {
    if (offset === null) return;
    this.#live.move(offset);
    this.scroll().nativeElement.scrollTop = 0;
  }

  protected refresh(): void {
    this.#live.refresh();
  }

  protected settle({ target }: Event): void {
    if (!(target instanceof HTMLTableCellElement)) return;
    const rowId = target.parentElement?.dataset['rowId'] ?? '';
    this.flashes.update((flashes) => settled(flashes, rowId, target.cellIndex));
  }

  protected isNumber({ type }: Column | undefined = { name: '', type: '' }): boolean {
    return type === 'int64' || type === 'double';
  }

  #at<T>(read: (state: TableState) => T): T | null {
    const state = this.#live.state();
    return state === null ? null : read(state);
  }
}
