/** What a server counts, as far as the page shows it: of each table, and when that was. */
export interface Figures {
  readonly at: number;
  readonly generation: number | null;
  readonly rows: ReadonlyMap<string, number>;
  /** Changes since the generation began to be read. */
  readonly updates: ReadonlyMap<string, number>;
  /** Seconds since the newest record was written. */
  readonly ages: ReadonlyMap<string, number>;
}

const SAMPLE = /^([a-z_]+)(?:\{table="([A-Za-z0-9_]+)"\})? (\S+)$/gm;

/** Reads the text format of Prometheus, as `/metrics` has it. */
export function readFigures(text: string, at: number): Figures {
  const found = { tablecast_rows: new Map<string, number>(), tablecast_table_updates: new Map<string, number>(), tablecast_table_age_seconds: new Map<string, number>() };
  let generation: number | null = null;
  for (const [, name = '', table, value] of text.matchAll(SAMPLE)) {
    if (name === 'tablecast_generation') generation = Number(value);
    else if (table !== undefined && name in found) found[name as keyof typeof found].set(table, Number(value));
  }
  return { at, generation, rows: found.tablecast_rows, updates: found.tablecast_table_updates, ages: found.tablecast_table_age_seconds };
}

/** Changes a second between two readings, of one table or of all of `tables`. Null across a swap, where counting begins anew. */
export function rateBetween(before: Figures, after: Figures, tables: readonly string[]): number | null {
  const seconds = (after.at - before.at) / 1000;
  if (before.generation !== after.generation || seconds <= 0) return null;
  const changes = tables.reduce((sum, table) => sum + (after.updates.get(table) ?? 0) - (before.updates.get(table) ?? 0), 0);
  return Math.max(0, changes / seconds);
}
