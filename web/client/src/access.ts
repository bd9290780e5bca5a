import { TablecastError } from './errors.ts';

/** Where the server is, and the pre-shared key that it wants. */
export interface Access {
  readonly url: string;
  readonly key: string;
}

/** The key as it is sent, or a clear error at once. */
export function givenKey({ key }: Access): string {
  const trimmed = key.trim();
  if (trimmed === '') {
    throw new TablecastError('missing_key', 'There is no key.', 'Ask the operator for the pre-shared key (server.psk).');
  }
  return trimmed;
}
