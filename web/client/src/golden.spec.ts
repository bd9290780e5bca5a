import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { problemOf } from './errors.ts';
import { RowStore } from './row-store.ts';
import type { FrameMessage } from './server-message.ts';
import { decode } from './server-message.ts';
import type { ViewerMessage } from './viewer-message.ts';
import { close, encode, find, login, move, open, ping, shape, took } from './viewer-message.ts';

interface GoldenMessage {
  readonly from: 'viewer' | 'server';
  readonly message: { readonly type: string };
}

interface Replay {
  readonly name: string;
  readonly requests?: number;
  readonly steps: readonly { readonly frame: FrameMessage; readonly window: object | null }[];
}

function golden(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../protocol/golden/${name}`, import.meta.url), 'utf8'));
}

const messages = golden('messages.json') as GoldenMessage[];
const spoken = (from: GoldenMessage['from']): GoldenMessage['message'][] =>
  messages.filter((entry) => entry.from === from).map((entry) => entry.message);

/** Says the same as `golden`, by the functions that the client speaks with. */
function said(message: ViewerMessage): ViewerMessage {
  switch (message.type) {
    case 'login':
      return login(message.key);
    case 'open':
      return open(message.sub, message.request, message, message, message.ahead);
    case 'move':
      return move(message.sub, message.request, message);
    case 'shape':
      return shape(message.sub, message.request, message, message);
    case 'close':
      return close(message.sub);
    case 'find':
      return find(message.sub, message.row);
    case 'took':
      return took(message.sub, message.revision);
    case 'ping':
      return ping(message.id);
  }
}

describe('the golden messages', () => {
  it.each(spoken('viewer'))('says %j', (message) => {
    expect(JSON.parse(encode(said(message as ViewerMessage)))).toEqual(message);
  });

  it.each(spoken('server'))('understands %j', (message) => {
    expect(decode(JSON.stringify(message))).toEqual(message);
  });

  it.each(spoken('server'))('refuses %j with a field missing', (message) => {
    const required = Object.keys(message).filter((field) => !['type', 'ids', 'sub', 'hint', 'message', 'role', 'retryAfter'].includes(field));
    for (const field of required) {
      const broken = JSON.stringify({ ...message, [field]: undefined });
      expect(() => decode(broken), field).toThrow('cannot read');
    }
  });
});

describe('the golden replays', () => {
  it.each(golden('replays.json') as Replay[])('$name', ({ steps, requests = 1 }) => {
    const store = new RowStore();
    const columns = [{ name: 'n', type: 'string' }];
    store.announce({ type: 'opened', sub: 1, request: 1, table: 't', generation: 1, columns });
    store.expect(requests);
    for (const { frame, window } of steps) {
      store.apply(frame);
      expect(windowOf(store)).toEqual(window);
    }
  });
});

function windowOf(store: RowStore): object | null {
  if (store.snapshot === null) return null;
  const { generation, total, offset, rows } = store.snapshot;
  return { generation, total, offset, rows: rows.map(({ id, cells }) => [id, { n: cells[0] }]) };
}

describe('what no golden message is', () => {
  it.each(['', 'nonsense', '[]', 'null', '{"kind":"frame"}'])('refuses %j', (text) => {
    expect(() => decode(text)).toThrow('cannot read');
  });

  it('refuses bytes', () => {
    expect(() => decode(new ArrayBuffer(1))).toThrow('cannot read');
  });

  it('passes over a type that a newer server may know', () => {
    expect(decode('{"type":"fireworks"}')).toBeNull();
    expect(decode('{"type":"toString"}')).toBeNull();
  });

  it('names the field that is wrong', () => {
    const broken = '{"type":"closed","sub":"one"}';
    expect(() => decode(broken)).toThrow(`'sub' of 'closed' is "one"`);
    expect(problemOf(new Error('plain')).code).toBe('unexpected');
  });
});
