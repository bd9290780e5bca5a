import type { Socket, SocketEvent } from '../src/index.ts';
import type { Role, ServerMessage } from '../src/server-message.ts';
import type { ViewerMessage } from '../src/viewer-message.ts';
import { feed, welcome } from './server-says.ts';

type Listener = (event: SocketEvent) => void;

/** A socket whose other end is the test: it accepts, speaks, drops, refuses, or keeps silent. */
export class FakeSocket implements Socket {
  readonly url: string;
  readonly protocol: string;
  readonly sent: ViewerMessage[] = [];
  readonly listeners = new Set<readonly [string, Listener]>();
  /** The other end does not agree to a close. */
  stubborn = false;
  closed = false;
  /** It is closing, and its other end has yet to say so. */
  closing = false;
  readonly #soon: (task: () => void) => void;

  constructor(url: string, protocol: string, soon: (task: () => void) => void) {
    this.url = url;
    this.protocol = protocol;
    this.#soon = soon;
  }

  get readyState(): number {
    return this.closed ? 3 : this.closing ? 2 : 1;
  }

  send(text: string): void {
    if (this.readyState !== 1) throw new Error('The socket is closed.');
    this.sent.push(JSON.parse(text) as ViewerMessage);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (!this.stubborn) this.#soon(() => { this.#emit({ type: 'close', code: 1000 }); });
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.add([type, listener]);
  }

  removeEventListener(type: string, listener: Listener): void {
    for (const entry of this.listeners) if (entry[0] === type && entry[1] === listener) this.listeners.delete(entry);
  }

  accept(): void {
    this.#emit({ type: 'open' });
  }

  /** Accepts, and answers the login as a server with live data does. */
  welcome(role: Role = 'operator'): void {
    this.accept();
    this.say(welcome(role));
    this.say(feed('live'));
  }

  say(message: ServerMessage): void {
    this.sayText(JSON.stringify(message));
  }

  sayText(data: string): void {
    this.#emit({ type: 'message', data });
  }

  drop(code = 1006): void {
    this.closed = true;
    this.#emit({ type: 'close', code });
  }

  /** The messages of one type that came so far. */
  heard<T extends ViewerMessage['type']>(type: T): Extract<ViewerMessage, { type: T }>[] {
    return this.sent.filter((message): message is Extract<ViewerMessage, { type: T }> => message.type === type);
  }

  /** The last message of one type. */
  last<T extends ViewerMessage['type']>(type: T): Extract<ViewerMessage, { type: T }> {
    const message = this.heard(type).at(-1);
    if (message === undefined) throw new Error(`No '${type}' was sent.`);
    return message;
  }

  #emit(event: SocketEvent): void {
    for (const [type, listener] of [...this.listeners]) if (type === event.type) listener(event);
  }
}
