import type { Access } from './access.ts';
import { givenKey } from './access.ts';
import { TablecastError } from './errors.ts';
import { isObject, parsed } from './json.ts';
import { apiUrl } from './server-url.ts';

/** Asks the HTTP interface of the server. Throws a `TablecastError` where it is not there or does not want to. */
export async function ask(access: Access, path: string, signal: AbortSignal | null = null): Promise<Response> {
  const url = apiUrl(access.url, path);
  const headers = { Authorization: `Bearer ${await givenKey(access)}` };
  const response = await fetch(url, { headers, signal }).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable(url);
  });
  if (!response.ok) throw refusal(response.status, parsed(await response.text()));
  return response;
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
