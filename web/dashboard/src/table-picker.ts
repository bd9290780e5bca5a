import { Component, computed, input, output } from '@angular/core';
import type { Catalogue } from '@tablecast/client';
import { titleOf } from './panels/caption.ts';
import { CHARTS, OPERATOR } from './panels/destination.ts';

/** Everything that a panel can show. */
@Component({
  selector: 'tablecast-table-picker',
  templateUrl: './table-picker.html',
})
export class TablePicker {
  readonly catalogue = input.required<Catalogue>();
  /** What the active panel shows. */
  readonly shows = input.required<string>();
  readonly chosen = output<string>();

  protected readonly others = [CHARTS, OPERATOR].map((shows) => ({ shows, title: titleOf(shows), testid: shows.slice(1) }));
  protected readonly entries = computed(() => {
    const { tables, aliases } = this.catalogue();
    return tables.map(({ name }) => ({
      name,
      aliases: Object.keys(aliases).filter((alias) => aliases[alias] === name),
    }));
  });
}
