import type { Cell, Snapshot } from '@tablecast/client';
import type { Figures } from '../status/exposition.ts';
import { rateBetween } from '../status/exposition.ts';

/** Points in time, oldest first, in seconds; null where there is no value. */
export interface TimeSeries {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

/** One bar for each name. */
export interface Bars {
  readonly names: readonly string[];
  readonly values: readonly number[];
}

const SYSTEM = ['control_raw', 'orchestrator_status'];
/** More bars beside each other say nothing. */
export const MOST_BARS = 12;

/** Changed rows a second, of all tables but those about Tablecast itself. */
export function rateSeries(log: readonly Figures[]): TimeSeries {
  const later = log.slice(1);
  return {
    times: later.map(({ at }) => at / 1000),
    values: later.map((figures, index) => {
      const before = log[index];
      return before === undefined ? null : rateBetween(before, figures, dataTables(figures));
    }),
  };
}

/** Seconds since the newest record of any table was written. */
export function ageSeries(log: readonly Figures[]): TimeSeries {
  return {
    times: log.map(({ at }) => at / 1000),
    values: log.map((figures) => {
      const ages = dataTables(figures).flatMap((table) => figures.ages.get(table) ?? []);
      return ages.length === 0 ? null : Math.max(0, Math.min(...ages));
    }),
  };
}

/** The figures of one column of a view of groups, by the cells that it is grouped by. */
export function barsOf(snapshot: Snapshot | null, by: string, column: string): Bars {
  const names = snapshot?.columns.map(({ name }) => name) ?? [];
  const rows = snapshot?.rows ?? [];
  const cell = (cells: readonly Cell[], name: string): Cell => cells[names.indexOf(name)] ?? null;
  return {
    names: rows.map(({ cells }) => String(cell(cells, by) ?? 'no value')),
    values: rows.map(({ cells }) => Number(cell(cells, column) ?? 0)),
  };
}

/** As many of them as can be drawn. */
export function drawable({ names, values }: Bars): Bars {
  return { names: names.slice(0, MOST_BARS), values: values.slice(0, MOST_BARS) };
}

/** What bars say in one sentence, also of those that are not drawn or, beyond `total`, not known here. */
export function toldBars({ names, values }: Bars, total: number, say: (value: number) => string): string {
  const sum = say(values.reduce((sum, value) => sum + value, 0));
  const unknown = total > names.length ? `the first ${String(names.length)} of ` : '';
  const undrawn = names.length > MOST_BARS ? `; ${String(MOST_BARS)} are drawn` : '';
  return `${sum} in all, of ${unknown}${String(total)} ${total === 1 ? 'type' : 'types'}${undrawn}`;
}

/** What a series says in one sentence: now, and between what. */
export function told({ values }: TimeSeries, say: (value: number) => string): string {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  if (last === undefined) return 'nothing is known yet';
  return `${say(last)} now, between ${say(Math.min(...known))} and ${say(Math.max(...known))}`;
}

function dataTables({ updates }: Figures): readonly string[] {
  return [...updates.keys()].filter((table) => !SYSTEM.includes(table));
}
