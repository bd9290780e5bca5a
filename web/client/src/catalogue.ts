import type { Access } from './access.ts';
import { ask } from './ask.ts';
import type { Column } from './cell.ts';
import { TablecastError } from './errors.ts';
import { isObject, parsed } from './json.ts';
import { apiUrl } from './server-url.ts';

export interface TableEntry {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly rows: number;
  readonly generation: number;
}

/** What a server has to show. */
export interface Catalogue {
  readonly tables: readonly TableEntry[];
  readonly aliases: Readonly<Record<string, string>>;
}

const PATH = '/api/tables';

/** Asks the server for its tables. Throws a `TablecastError` that says what is wrong and what to do. */
export async function readCatalogue(access: Access, signal: AbortSignal | null = null): Promise<Catalogue> {
  const response = await ask(access, PATH, signal);
  const body = parsed(await response.text());
  if (!isObject(body) || !Array.isArray(body['tables'])) throw unreadable(apiUrl(access.url, PATH));
  return { tables: body['tables'] as unknown as TableEntry[], aliases: aliasesOf(body['aliases']) };
}

function aliasesOf(value: unknown): Readonly<Record<string, string>> {
  return isObject(value) ? (value as Record<string, string>) : {};
}

function unreadable(url: string): TablecastError {
  return new TablecastError('bad_answer', `${url} did not answer with a list of tables.`, 'Is it a table server?');
}
