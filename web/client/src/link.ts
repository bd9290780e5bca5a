import type { Environment, Socket, SocketEvent } from './environment.ts';
import type { Problem } from './errors.ts';
import { problem, problemOf } from './errors.ts';
import { Heartbeat } from './heartbeat.ts';
import type { ServerMessage } from './server-message.ts';
import { decode } from './server-message.ts';
import type { ViewerMessage } from './viewer-message.ts';
import { encode, login, ping, PROTOCOL } from './viewer-message.ts';

export interface LinkEnd {
  /** The server does not take the key: there is no use in trying it again. */
  readonly refused: boolean;
  /** The login was good and is over: another key may be taken. */
  readonly over: boolean;
  readonly problem: Problem;
  /** The server does not want to be asked before. */
  readonly retryAfterMs: number;
}

export interface LinkEvents {
  /** Any message after the login, `welcome` included. */
  readonly message: (message: ServerMessage) => void;
  readonly quiet: (quiet: boolean) => void;
  /** Called once, and nothing after it. */
  readonly ended: (end: LinkEnd) => void;
}

const OPEN = 1;
const LOGIN_WITHIN_MS = 8_000;
const CLOSE_WITHIN_MS = 2_000;
/** A login takes milliseconds: one that takes this long when the network or the tab comes back was begun before it went. */
const STUCK_AFTER_MS = 1_000;
/** Close codes, for where the words before them were lost. */
const LOGIN_REFUSED = [4401, 4403];
const LOGIN_OVER = [4419];
const REFUSALS = ['wrong_key', 'bad_token', 'no_role'];
const ENDS = ['token_expired', 'key_withdrawn'];
const LOST = problem('connection_lost', 'The connection to the server was lost.', 'The page reconnects by itself.');
const SILENT = problem('no_answer', 'The server does not answer.', 'The page reconnects by itself.');

/** One socket, from its login to its end. Reconnecting is a new link. */
export class Link {
  readonly #environment: Environment;
  readonly #events: LinkEvents;
  readonly #key: string;
  readonly #socket: Socket;
  readonly #dialledAt: number;
  readonly #listeners: readonly (readonly [string, (event: SocketEvent) => void])[];
  #heartbeat: Heartbeat | null = null;
  #cancelLogin: () => void;
  #said: Problem | null = null;
  #retryAfterMs = 0;
  #pings = 0;
  #ended = false;

  constructor(url: string, key: string, environment: Environment, events: LinkEvents) {
    this.#environment = environment;
    this.#events = events;
    this.#key = key;
    this.#dialledAt = environment.now();
    this.#socket = new environment.WebSocket(url, PROTOCOL);
    this.#listeners = [
      ['open', () => { this.send(login(this.#key)); }],
      ['message', (event) => { this.#receive(event.data); }],
      ['close', (event) => { this.#closed(event.code); }],
    ];
    for (const [type, listener] of this.#listeners) this.#socket.addEventListener(type, listener);
    this.#cancelLogin = environment.after(LOGIN_WITHIN_MS, () => { this.fail(SILENT); });
  }

  send(message: ViewerMessage): void {
    // One that is closing has not said so yet; what is sent then goes nowhere, and a browser complains of it.
    if (!this.#ended && this.#socket.readyState === OPEN) this.#socket.send(encode(message));
  }

  /** Asks the other side for a sign of life, now. One that has not let us in for too long is given up instead. */
  probe(): void {
    if (this.#heartbeat !== null) this.#heartbeat.probe();
    else if (this.#environment.now() - this.#dialledAt >= STUCK_AFTER_MS) this.fail(SILENT);
  }

  /** The network has gone: what the other side last said may be no longer so. */
  doubt(): void {
    this.#heartbeat?.doubt();
  }

  /** Gives this link up; the server learns of it when the network lets it. */
  fail(why: Problem): void {
    if (this.#ended) return;
    this.#release();
    this.#socket.close();
    this.#events.ended(this.#end(why, []));
  }

  /** Resolves when the socket is closed, or when the other side takes too long to agree. */
  close(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#release();
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#socket.removeEventListener('close', done);
        resolve();
      };
      const cancel = this.#environment.after(CLOSE_WITHIN_MS, done);
      this.#socket.addEventListener('close', done);
      this.#socket.close(1000);
    });
  }

  #receive(data: unknown): void {
    this.#heartbeat?.heard();
    try {
      const message = decode(data);
      if (message !== null) this.#take(message);
    } catch (error) {
      this.fail(problemOf(error));
    }
  }

  #take(message: ServerMessage): void {
    if (message.type === 'welcome') this.#welcomed();
    if (message.type === 'error' && message.sub === undefined) {
      this.#said = problem(message.code, message.message, message.hint);
      this.#retryAfterMs = 1_000 * (message.retryAfter ?? 0);
      if (REFUSALS.includes(message.code) || ENDS.includes(message.code)) return this.fail(this.#said);
    }
    this.#events.message(message);
  }

  #welcomed(): void {
    this.#cancelLogin();
    this.#heartbeat ??= new Heartbeat(this.#environment, {
      ping: () => { this.send(ping(++this.#pings)); },
      quiet: this.#events.quiet,
      dead: () => { this.fail(SILENT); },
    });
  }

  #closed(code: number | undefined): void {
    this.#release();
    this.#events.ended(this.#end(this.#said ?? LOST, code === undefined ? [] : [code]));
  }

  #end(why: Problem, closed: readonly number[]): LinkEnd {
    const is = (words: readonly string[], codes: readonly number[]): boolean => words.includes(why.code) || closed.some((code) => codes.includes(code));
    const over = is(ENDS, LOGIN_OVER);
    return { over, refused: over || is(REFUSALS, LOGIN_REFUSED), problem: why, retryAfterMs: this.#retryAfterMs };
  }

  #release(): void {
    this.#ended = true;
    this.#cancelLogin();
    this.#heartbeat?.stop();
    for (const [type, listener] of this.#listeners) this.#socket.removeEventListener(type, listener);
  }
}
