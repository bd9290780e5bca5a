import { TablecastError } from './errors.ts';

/**
 * A pre-shared key, or a token of the server's OpenID provider. A function is asked for one at each login, also when the last one has
 * expired: it may give another then, at once or later. One that has none any more gives `''`, and the connection is `refused`.
 */
export type Key = string | (() => string | Promise<string>);

/** Where the server is, and what it wants to be shown. */
export interface Access {
  readonly url: string;
  readonly key: Key;
}

/** The key as it is sent, or a clear error. */
export async function givenKey({ key }: Access): Promise<string> {
  return checkedKey(typeof key === 'function' ? await key() : key);
}

/** The key without what stands around it, or a clear error at once. */
export function checkedKey(key: string): string {
  const trimmed = key.trim();
  if (trimmed === '') {
    throw new TablecastError('missing_key', 'There is no key.', 'Ask the operator for the pre-shared key (server.psk).');
  }
  return trimmed;
}
