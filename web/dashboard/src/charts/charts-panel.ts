import { Component, computed, inject } from '@angular/core';
import type { Snapshot } from '@tablecast/client';
import { PAGE_SIZE } from '@tablecast/client';
import { calmly } from '../calmly.ts';
import { amount, coarse, compact, moment, span } from '../format.ts';
import { injectView } from '../inject-view.ts';
import { Session } from '../session.ts';
import { FiguresLog } from '../status/figures.ts';
import { Chart } from './chart.ts';
import type { Bars, TimeSeries } from './series.ts';
import { ageSeries, barsOf, drawable, rateSeries, told, toldBars } from './series.ts';

const TABLE = 'accounts_ui';
const BY = 'accountType';
const FIGURE = 'balance';
const GROUP = { by: [BY], aggregates: [{ op: 'sum', column: FIGURE }, { op: 'count' }] } as const;
const FIRST_GROUPS = { offset: 0, size: PAGE_SIZE };
/** A table of every reading would be five minutes long. */
const READ_OUT = 12;
/** Groups change with every record: four times a second can be followed with the eye. */
const CALM_MS = 250;

interface Drawn {
  readonly id: string;
  readonly title: string;
  readonly data: TimeSeries | Bars;
  readonly sentence: string;
  readonly head: readonly [string, string];
  readonly lines: readonly (readonly [string, string])[];
  readonly say: (value: number) => string;
}

/** What people would rather look at than read. Each drawing has its words, and its figures as a table; one that has nothing new is not drawn again. */
@Component({
  selector: 'tablecast-charts-panel',
  imports: [Chart],
  templateUrl: './charts-panel.html',
})
export class ChartsPanel {
  readonly #session = inject(Session);
  readonly #log = inject(FiguresLog).log;
  readonly #hasAccounts = computed(() => {
    const columns = this.#session.catalogue()?.tables.find(({ name }) => name === TABLE)?.columns.map(({ name }) => name) ?? [];
    return columns.includes(BY) && columns.includes(FIGURE);
  });
  readonly #view = injectView(this.#session.hub, () => (this.#hasAccounts() ? { table: TABLE, group: GROUP } : null), FIRST_GROUPS);
  readonly #groups = calmly(CALM_MS, computed(() => this.#view()?.snapshot ?? null));

  readonly #rate = computed(() => overTime('rate', 'Changed rows a second', rateSeries(this.#log()), coarse, '/s'));
  readonly #age = computed(() => overTime('age', 'Age of the newest row', ageSeries(this.#log()), seconds, ''));
  readonly #byType = computed(() => [
    byType('balance', 'Total balance by account type', 'sum_balance', this.#groups()),
    byType('count', 'Accounts by account type', 'count', this.#groups()),
  ]);
  protected readonly charts = computed<readonly Drawn[]>(() => [this.#rate(), this.#age(), ...(this.#hasAccounts() ? this.#byType() : [])]);
}

function overTime(id: string, title: string, data: TimeSeries, say: (value: number) => string, unit: string): Drawn {
  const now = 1000 * (data.times.at(-1) ?? 0);
  const lines = data.times.slice(-READ_OUT).map((time, index) => {
    const value = data.values.slice(-READ_OUT)[index] ?? null;
    return [moment(time * 1000, now), value === null ? 'no value' : say(value) + unit] as const;
  });
  return { id, title, data, sentence: told(data, (value) => say(value) + unit), head: ['time', title], lines: lines.reverse(), say };
}

function byType(id: string, title: string, column: string, snapshot: Snapshot | null): Drawn {
  const bars = barsOf(snapshot, BY, column);
  const lines = bars.names.map((name, index) => [name, rounded(bars.values[index] ?? 0)] as const);
  return { id, title, data: drawable(bars), sentence: toldBars(bars, snapshot?.total ?? 0, rounded), head: ['type', title], lines, say: compact };
}

function seconds(value: number): string {
  return span(value * 1000);
}

function rounded(value: number): string {
  return amount(Math.round(value * 100) / 100);
}
