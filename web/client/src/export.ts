import type { Access } from './access.ts';
import { ask } from './ask.ts';
import type { Shape, View } from './view.ts';

export type ExportFormat = 'csv' | 'arrow' | 'parquet';

/** Of a CSV: each text as the table holds it, or with a ' before one that a spreadsheet would run. */
export type Formulas = 'keep' | 'neutralise';

/** All rows of a view at one instant. */
export interface ExportedFile {
  readonly name: string;
  readonly content: Blob;
  readonly generation: number;
  readonly rows: number;
}

/** Asks the server for a view as a file. Throws a `TablecastError` that says what is wrong and what to do. */
export async function exportView(
  access: Access,
  view: View,
  format: ExportFormat,
  signal: AbortSignal | null = null,
  formulas: Formulas = 'keep',
): Promise<ExportedFile> {
  const query = new URLSearchParams({ format, ...(format === 'csv' && formulas !== 'keep' ? { formulas } : {}), ...queryOf(view) });
  const answer = await ask(access, `/api/tables/${encodeURIComponent(view.table)}/export?${query.toString()}`, signal);
  const figure = (header: string): number => Number(answer.headers.get(header) ?? 0);
  return {
    name: `${view.table}.${format}`,
    content: await answer.blob(),
    generation: figure('tablecast-generation'),
    rows: figure('tablecast-rows'),
  };
}

/** A view as the parameters of an HTTP path. */
function queryOf({ sort, filter, search, group }: Shape): Record<string, string> {
  const key = ({ column, descending, locale }: NonNullable<Shape['sort']>[number]): string =>
    [column, descending ? 'desc' : 'asc', ...(locale === undefined ? [] : [locale])].join(':');
  return {
    ...(sort?.length ? { sort: sort.map(key).join(',') } : {}),
    ...(filter ? { filter: JSON.stringify(filter) } : {}),
    ...(search ? { search } : {}),
    ...(group ? { group: JSON.stringify(group) } : {}),
  };
}
