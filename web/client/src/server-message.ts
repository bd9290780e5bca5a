import type { Column } from './cell.ts';
import type { Json, JsonObject } from './json.ts';
import { isObject, parsed } from './json.ts';
import { TablecastError } from './errors.ts';

/** What a login may do: look, or swap topics too. */
export type Role = 'viewer' | 'operator';

export type FeedState = 'filling' | 'live' | 'stale';

export interface Limits {
  readonly windowRows: number;
  readonly subscriptions: number;
  readonly messageBytes: number;
}

export interface WelcomeMessage {
  readonly type: 'welcome';
  readonly protocol: string;
  readonly server: string;
  readonly limits: Limits;
  /** An older server does not tell: there everybody may do everything. */
  readonly role?: Role;
}

export interface FeedMessage {
  readonly type: 'feed';
  readonly state: FeedState;
  readonly message: string | null;
}

export interface OpenedMessage {
  readonly type: 'opened';
  readonly sub: number;
  readonly request: number;
  readonly table: string;
  readonly generation: number;
  readonly columns: readonly Column[];
}

export interface FrameMessage {
  readonly type: 'frame';
  readonly sub: number;
  readonly request: number;
  readonly generation: number;
  readonly revision: number;
  readonly total: number;
  readonly offset: number;
  readonly ids?: readonly string[];
  readonly rows: Readonly<Record<string, JsonObject>>;
  /** For how many milliseconds it waited for this viewer: before it, what was shown was that old. */
  readonly late?: number;
}

export interface ClosedMessage {
  readonly type: 'closed';
  readonly sub: number;
}

export interface FoundMessage {
  readonly type: 'found';
  readonly sub: number;
  readonly row: string;
  /** Where the row stands in the view; null when it is not in it. */
  readonly index: number | null;
}

export interface ErrorMessage {
  readonly type: 'error';
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly sub?: number;
  /** In how many seconds it may be tried again, where that is known. */
  readonly retryAfter?: number;
}

export interface PongMessage {
  readonly type: 'pong';
  readonly id: number;
}

export type ServerMessage =
  | WelcomeMessage
  | FeedMessage
  | OpenedMessage
  | FrameMessage
  | ClosedMessage
  | FoundMessage
  | ErrorMessage
  | PongMessage;

type Check = (value: Json | undefined) => boolean;

const text: Check = (value) => typeof value === 'string';
const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const countOrNull: Check = (value) => value === null || count(value);
const textOrNull: Check = (value) => value === null || value === undefined || text(value);
const texts: Check = (value) => Array.isArray(value) && value.every(text);
const objects: Check = (value) => isObject(value) && Object.values(value).every(isObject);
const columns: Check = (value) =>
  Array.isArray(value) && value.every((column) => isObject(column) && text(column['name']) && text(column['type']));
const limits: Check = (value) =>
  isObject(value) && count(value['windowRows']) && count(value['subscriptions']) && count(value['messageBytes']);
const feedState: Check = (value) => value === 'filling' || value === 'live' || value === 'stale';
const role: Check = (value) => value === 'viewer' || value === 'operator';
const maybe = (check: Check): Check => (value) => value === undefined || check(value);

const FIELDS: Readonly<Record<ServerMessage['type'], Readonly<Record<string, Check>>>> = {
  welcome: { protocol: text, server: text, limits, role: maybe(role) },
  feed: { state: feedState, message: textOrNull },
  opened: { sub: count, request: count, table: text, generation: count, columns },
  frame: {
    sub: count,
    request: count,
    generation: count,
    revision: count,
    total: count,
    offset: count,
    ids: maybe(texts),
    rows: objects,
    late: maybe(count),
  },
  closed: { sub: count },
  found: { sub: count, row: text, index: countOrNull },
  error: { code: text, message: text, hint: textOrNull, sub: maybe(count), retryAfter: maybe(count) },
  pong: { id: count },
};

/**
 * Reads one message of the server. A type that this version does not know gives null, so that a newer server may say more;
 * a known type with a missing or wrong field throws `bad_message`.
 */
export function decode(data: unknown): ServerMessage | null {
  const message = typeof data === 'string' ? parsed(data) : undefined;
  if (!isObject(message) || typeof message['type'] !== 'string') throw badMessage('it is not a JSON object with a type');
  const type = message['type'];
  if (!isKnown(type)) return null;
  for (const [field, check] of Object.entries(FIELDS[type])) {
    if (!check(message[field])) throw badMessage(`'${field}' of '${type}' is ${JSON.stringify(message[field])}`);
  }
  return message as unknown as ServerMessage;
}

function isKnown(type: string): type is ServerMessage['type'] {
  return Object.hasOwn(FIELDS, type);
}

function badMessage(fact: string): TablecastError {
  return new TablecastError(
    'bad_message',
    `The server sent a message that this page cannot read: ${fact}.`,
    'Reload the page: the server may be of another version.',
  );
}
