import type { Access } from './access.ts';
import { givenKey } from './access.ts';
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

/** Asks the server for its tables. Throws a `TablecastError` that says what is wrong and what to do. */
export async function readCatalogue(access: Access, signal: AbortSignal | null = null): Promise<Catalogue> {
  const url = apiUrl(access.url, '/api/tables');
  const headers = { Authorization: `Bearer ${givenKey(access)}` };
  const response = await fetch(url, { headers, signal }).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable(url);
  });
  const body = parsed(await response.text());
  if (!response.ok) throw refusal(response.status, body);
  if (!isObject(body) || !Array.isArray(body['tables'])) throw unreadable(url);
  return { tables: body['tables'] as unknown as TableEntry[], aliases: aliasesOf(body['aliases']) };
}

function aliasesOf(value: unknown): Readonly<Record<string, string>> {
  return isObject(value) ? (value as Record<string, string>) : {};
}

function refusal(status: number, body: unknown): TablecastError {
  const error = isObject(body) ? body['error'] : null;
  const { code, message, hint } = isObject(error) ? error : {};
  return new TablecastError(
    typeof code === 'string' ? code : 'http_error',
    typeof message === 'string' ? message : `The server answered with HTTP ${String(status)}.`,
    typeof hint === 'string' ? hint : null,
  );
}

function unreachable(url: string): TablecastError {
  return new TablecastError('unreachable', `The server at ${url} cannot be reached.`, 'Is it running, and is the address right?');
}

function unreadable(url: string): TablecastError {
  return new TablecastError('bad_answer', `${url} did not answer with a list of tables.`, 'Is it a table server?');
}
