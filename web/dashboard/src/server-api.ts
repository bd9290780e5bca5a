import type { Access } from '@tablecast/client';
import { apiUrl, TablecastError } from '@tablecast/client';

export interface Question {
  /** Sent as JSON, by POST. */
  readonly body?: object;
  readonly signal?: AbortSignal | null;
}

/** Asks the HTTP interface of the server. Throws a `TablecastError` with the server's own words where it refuses. */
export async function askServer(access: Access, path: string, { body, signal = null }: Question = {}): Promise<string> {
  const url = apiUrl(access.url, path);
  const sent = body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) };
  const headers = { Authorization: `Bearer ${(typeof access.key === 'string' ? access.key : await access.key()).trim()}` };
  const response = await fetch(url, { ...sent, headers, signal }).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable(url);
  });
  const text = await response.text();
  if (!response.ok) throw refusal(response.status, text);
  return text;
}

export async function askForJson<T>(access: Access, path: string, question: Question = {}): Promise<T> {
  return JSON.parse(await askServer(access, path, question)) as T;
}

function refusal(status: number, text: string): TablecastError {
  const { code, message, hint } = errorIn(text);
  return new TablecastError(code ?? 'http_error', message ?? `The server answered with HTTP ${String(status)}.`, hint ?? null);
}

function errorIn(text: string): { code?: string; message?: string; hint?: string } {
  try {
    return (JSON.parse(text) as { error?: object } | null)?.error ?? {};
  } catch {
    return {};
  }
}

function unreachable(url: string): TablecastError {
  return new TablecastError('unreachable', `The server at ${url} cannot be reached.`, 'Is it running, and is the address right?');
}
