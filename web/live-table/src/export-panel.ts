import { Component, DestroyRef, DOCUMENT, inject, input, output, signal } from '@angular/core';
import type { ExportFormat, Problem, View } from '@tablecast/client';
import { problemOf } from '@tablecast/client';
import { countText } from './cell-text.ts';
import { keepFile } from './download.ts';
import { TABLE_HUB } from './table-hub.ts';

interface Choice {
  readonly format: ExportFormat;
  readonly label: string;
  readonly note: string;
}

/** Saves all rows of the view, of one instant, as a file. */
@Component({
  selector: 'live-table-export-panel',
  templateUrl: './export-panel.html',
})
export class ExportPanel {
  readonly view = input.required<View>();
  readonly said = output<string>();

  protected readonly choices: readonly Choice[] = [
    { format: 'csv', label: 'CSV', note: 'for spreadsheets; before a text that one would run as a formula stands a \'' },
    { format: 'arrow', label: 'Arrow', note: 'typed, for pandas and DuckDB' },
    { format: 'parquet', label: 'Parquet', note: 'typed and small' },
  ];
  protected readonly busy = signal<ExportFormat | null>(null);
  protected readonly problem = signal<Problem | null>(null);
  readonly #hub = inject(TABLE_HUB);
  readonly #document = inject(DOCUMENT);
  readonly #left = new AbortController();

  constructor() {
    inject(DestroyRef).onDestroy(() => { this.#left.abort(); });
  }

  protected async save(format: ExportFormat): Promise<void> {
    const hub = this.#hub();
    if (hub === null || this.busy() !== null) return;
    this.busy.set(format);
    this.problem.set(null);
    try {
      // People open this file by a click, and the rows are whoever's who may write to the topics.
      const file = await hub.export(this.view(), format, this.#left.signal, 'neutralise');
      keepFile(this.#document, file.name, file.content);
      this.said.emit(`${countText(file.rows)} rows were saved as ${file.name}.`);
    } catch (error) {
      if (!this.#left.signal.aborted) this.problem.set(problemOf(error));
    } finally {
      this.busy.set(null);
    }
  }
}
