import { Component, computed, input, model } from '@angular/core';
import type { Catalogue } from '@tablecast/client';

@Component({
  selector: 'tablecast-table-picker',
  templateUrl: './table-picker.html',
})
export class TablePicker {
  readonly catalogue = input.required<Catalogue>();
  readonly table = model.required<string>();

  protected readonly entries = computed(() => {
    const { tables, aliases } = this.catalogue();
    return tables.map(({ name }) => ({
      name,
      aliases: Object.keys(aliases).filter((alias) => aliases[alias] === name),
    }));
  });
}
