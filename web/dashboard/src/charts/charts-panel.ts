import { Component, computed, inject } from '@angular/core';
import { PAGE_SIZE } from '@tablecast/client';
import { amount, coarse, compact, moment, span } from '../format.ts';
import { injectView } from '../inject-view.ts';
import { Session } from '../session.ts';
import { FiguresLog } from '../status/figures.ts';
import { Freshness } from '../status/freshness.ts';
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

interface Drawn {
  readonly id: string;
  readonly title: string;
  readonly data: TimeSeries | Bars;
  readonly sentence: string;
  readonly head: readonly [string, string];
  readonly lines: readonly (readonly [string, string])[];
  readonly say: (value: number) => string;
}

/** What people would rather look at than read. Each drawing has its words, and its figures as a table. */
@Component({
  selector: 'tablecast-charts-panel',
  imports: [Chart],
  templateUrl: './charts-panel.html',
})
export class ChartsPanel {
  readonly #session = inject(Session);
  readonly #figures = inject(FiguresLog);
  readonly #now = inject(Freshness).now;
  readonly #hasAccounts = computed(() => {
    const columns = this.#session.catalogue()?.tables.find(({ name }) => name === TABLE)?.columns.map(({ name }) => name) ?? [];
    return columns.includes(BY) && columns.includes(FIGURE);
  });
  readonly #groups = injectView(this.#session.hub, () => (this.#hasAccounts() ? { table: TABLE, group: GROUP } : null), FIRST_GROUPS);

  protected readonly charts = computed<readonly Drawn[]>(() => [
    this.#overTime('rate', 'Changed rows a second', rateSeries(this.#figures.log()), coarse, '/s'),
    this.#overTime('age', 'Age of the newest row', ageSeries(this.#figures.log()), (seconds) => span(seconds * 1000), ''),
    ...(this.#hasAccounts() ? [this.#byType('balance', 'Total balance by account type', 'sum_balance'), this.#byType('count', 'Accounts by account type', 'count')] : []),
  ]);

  #overTime(id: string, title: string, data: TimeSeries, say: (value: number) => string, unit: string): Drawn {
    const lines = data.times.map((time, index) => {
      const value = data.values[index] ?? null;
      return [moment(time * 1000, this.#now()), value === null ? 'no value' : say(value) + unit] as const;
    });
    const sentence = told(data, (value) => say(value) + unit);
    return { id, title, data, sentence, head: ['time', title], lines: lines.slice(-READ_OUT).reverse(), say };
  }

  #byType(id: string, title: string, column: string): Drawn {
    const snapshot = this.#groups()?.snapshot ?? null;
    const bars = barsOf(snapshot, BY, column);
    const say = (value: number): string => amount(round(value));
    const lines = bars.names.map((name, index) => [name, say(bars.values[index] ?? 0)] as const);
    const sentence = toldBars(bars, snapshot?.total ?? 0, say);
    return { id, title, data: drawable(bars), sentence, head: ['type', title], lines, say: compact };
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
