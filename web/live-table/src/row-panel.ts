import { Component, computed, DOCUMENT, inject, input, linkedSignal, output } from '@angular/core';
import type { Column, Row, Snapshot } from '@tablecast/client';
import { cellText, rawText } from './cell-text.ts';
import { NOT_COPIED, putOnClipboard } from './clipboard.ts';
import { quoted } from './selection.ts';

interface Known {
  readonly row: Row;
  readonly columns: readonly Column[];
  /** It is among the rows that tick; else these are its values as they were last seen. */
  readonly ticking: boolean;
}

/** One row in full. It ticks as long as the row is in view. */
@Component({
  selector: 'live-table-row-panel',
  templateUrl: './row-panel.html',
})
export class RowPanel {
  readonly row = input.required<string | null>();
  readonly snapshot = input.required<Snapshot | null>();
  readonly said = output<string>();
  /** Somebody wants to choose cells by single taps. */
  readonly cells = output();
  readonly #document = inject(DOCUMENT);

  protected readonly known = linkedSignal<{ id: string | null; snapshot: Snapshot | null }, Known | null>({
    source: () => ({ id: this.row(), snapshot: this.snapshot() }),
    computation: ({ id, snapshot }, before) => {
      const row = snapshot?.rows.find((each) => each.id === id);
      if (row !== undefined && snapshot !== null) return { row, columns: snapshot.columns, ticking: true };
      const last = before?.value ?? null;
      return last?.row.id === id ? { ...last, ticking: false } : null;
    },
  });
  protected readonly fields = computed(() => {
    const known = this.known();
    return known?.columns.map((column, index) => {
      const cell = known.row.cells[index] ?? null;
      const { look, text } = cellText(column, cell);
      return { name: column.name, type: column.type, look, text: look === 'value' && typeof cell === 'string' && column.type === 'string' ? cell : text };
    }) ?? [];
  });

  protected async copy(): Promise<void> {
    const known = this.known();
    if (known === null) return;
    const lines = known.columns.map(({ name }, index) => `${quoted(name)}\t${quoted(rawText(known.row.cells[index] ?? null))}`);
    const done = await putOnClipboard(this.#document, lines.join('\n'));
    this.said.emit(done ? 'The row was copied.' : NOT_COPIED);
  }
}
