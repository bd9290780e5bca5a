import { Component, computed, input, linkedSignal, model, output } from '@angular/core';
import type { Column } from '@tablecast/client';
import type { ColumnFilter, FilterOp } from './column-filter.ts';
import { conditionOf, filterOf, needsValue, OP_WORDS, opsOf, valueProblem, written } from './column-filter.ts';
import type { ColumnLayout } from './column-layout.ts';
import { shown, WIDTHS, withMoved, withPinned, withShown, withWidth } from './column-layout.ts';
import { partAbout, withPart } from './filtering.ts';
import type { GridView } from './grid-view.ts';
import { withSorted } from './sorting.ts';

const INPUT_TYPES: Readonly<Record<string, string>> = { timestamp: 'datetime-local' };

/** Everything that can be done with one column: sort, filter, move, widen, pin, hide. */
@Component({
  selector: 'live-table-column-panel',
  templateUrl: './column-panel.html',
})
export class ColumnPanel {
  readonly column = input.required<Column>();
  readonly columns = input.required<readonly Column[]>();
  readonly width = input.required<number>();
  readonly view = model.required<GridView>();
  readonly layout = model.required<ColumnLayout>();
  readonly hidden = output();

  protected readonly words = OP_WORDS;
  protected readonly needsValue = needsValue;
  protected readonly ops = computed(() => opsOf(this.column()));
  protected readonly inputType = computed(() => INPUT_TYPES[this.column().type] ?? 'text');
  protected readonly pinned = computed(() => this.layout().pinned.includes(this.column().name));
  protected readonly last = computed(() => shown(this.columns(), this.layout()).length === 1);
  protected readonly sorted = computed(() => this.view().sort.find((key) => key.column === this.column().name) ?? null);
  protected readonly applied = computed(() => partAbout(this.view().filter, this.column().name));
  protected readonly draft = linkedSignal<ColumnFilter>(() => this.#present());
  protected readonly problem = linkedSignal<Column, string | null>({ source: this.column, computation: () => null });

  protected sort(descending: boolean | null): void {
    const { name } = this.column();
    this.view.update((view) => ({ ...view, sort: withSorted(view.sort, name, descending) }));
  }

  protected chooseOp(op: string): void {
    this.draft.update((draft) => ({ ...draft, op: op as FilterOp }));
    this.problem.set(null);
  }

  protected write(value: string): void {
    this.draft.update((draft) => ({ ...draft, value }));
  }

  protected apply(event: Event): void {
    event.preventDefault();
    const problem = valueProblem(this.column(), this.draft());
    this.problem.set(problem);
    if (problem !== null) return;
    this.#filter(conditionOf(this.column(), this.draft()));
  }

  protected clear(): void {
    this.problem.set(null);
    this.#filter(null);
  }

  protected pin(pinned: boolean): void {
    this.layout.update((layout) => withPinned(layout, this.column().name, pinned));
  }

  protected move(by: number): void {
    this.layout.update((layout) => withMoved(layout, this.columns(), this.column().name, by));
  }

  protected widen(steps: number): void {
    this.layout.update((layout) => withWidth(layout, this.column().name, this.width() + steps * WIDTHS.step));
  }

  protected hide(): void {
    this.layout.update((layout) => withShown(layout, this.columns(), this.column().name, false));
    this.hidden.emit();
  }

  #filter(part: ReturnType<typeof conditionOf> | null): void {
    this.view.update((view) => ({ ...view, filter: withPart(view.filter, this.column().name, part) }));
  }

  #present(): ColumnFilter {
    const part = this.applied();
    const filter = part === null ? undefined : filterOf(part)?.filter;
    return filter === undefined ? { op: this.ops()[0] ?? 'null', value: '' } : written(this.column(), filter);
  }
}
