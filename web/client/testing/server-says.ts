import type { Column } from '../src/index.ts';
import type { JsonObject } from '../src/json.ts';
import type {
  ErrorMessage,
  FeedMessage,
  FeedState,
  FrameMessage,
  OpenedMessage,
  Role,
  WelcomeMessage,
} from '../src/server-message.ts';

export function welcome(role: Role = 'operator'): WelcomeMessage {
  const limits = { windowRows: 5000, subscriptions: 64, messageBytes: 65536 };
  return { type: 'welcome', protocol: 'tablecast.v1', server: '0.1.0', limits, role };
}

export function feed(state: FeedState, message: string | null = null): FeedMessage {
  return { type: 'feed', state, message };
}

export function errorMessage(code: string, sub?: number, retryAfter?: number): ErrorMessage {
  const about = { ...(sub === undefined ? {} : { sub }), ...(retryAfter === undefined ? {} : { retryAfter }) };
  return { type: 'error', code, message: `The server says ${code}.`, hint: 'Do the other thing.', ...about };
}

export function opened(sub: number, columns: readonly Column[], generation = 1, table = 'users_ui'): OpenedMessage {
  return { type: 'opened', sub, request: 1, table, generation, columns };
}

/** A whole frame of these rows, with the ids in the order in which they are written; `change` makes it another frame. */
export function frame(sub: number, rows: Record<string, JsonObject>, change: Partial<FrameMessage> = {}): FrameMessage {
  const ids = Object.keys(rows);
  const usual = { request: 1, generation: 1, revision: 1, total: ids.length, offset: 0, ids };
  return { type: 'frame', sub, ...usual, rows, ...change };
}
