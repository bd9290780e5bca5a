import { backoffMs } from './backoff.ts';
import type { ConnectionPhase, ConnectionState } from './connection-state.ts';
import { sameState, step } from './connection-state.ts';
import type { Environment } from './environment.ts';
import type { Problem } from './errors.ts';
import { problem, problemOf } from './errors.ts';
import type { LinkEnd } from './link.ts';
import { Link } from './link.ts';
import type { FeedMessage, ServerMessage } from './server-message.ts';
import type { ViewerMessage } from './viewer-message.ts';
import { Watched } from './watched.ts';

export interface ConnectionEvents {
  /** Logged in on a fresh socket that knows no subscription. */
  readonly ready: () => void;
  readonly message: (message: ServerMessage) => void;
  /** The socket is gone, and its subscriptions with it. */
  readonly lost: () => void;
}

const SETTLED_AFTER_MS = 10_000;
const QUIET = problem('no_answer', 'The server does not answer.', 'The rows may be old; the page keeps trying.');
const FILLING = problem('feed_filling', 'The server is still filling its tables.', 'The rows are not complete yet.');
const STALE = problem('feed_stale', 'The server does not get new rows.', 'The rows may be old; the operator can see why.');

/** Keeps one link to the server alive, and says honestly how it stands. */
export class Connection {
  readonly state = new Watched<ConnectionState>({ phase: 'connecting', problem: null }, sameState);
  readonly #url: string;
  readonly #key: string;
  readonly #environment: Environment;
  readonly #events: ConnectionEvents;
  readonly #stopWaking: () => void;
  #link: Link | null = null;
  #cancelRetry: (() => void) | null = null;
  #attempt = 0;
  #welcomedAt: number | null = null;
  #feed: FeedMessage | null = null;
  #notice: Problem | null = null;
  #quiet = false;
  #currentAt: number | null = null;

  constructor(url: string, key: string, environment: Environment, events: ConnectionEvents) {
    this.#url = url;
    this.#key = key;
    this.#environment = environment;
    this.#events = events;
    this.#stopWaking = environment.onWake(() => { this.#wake(); });
    this.#dial();
  }

  get ready(): boolean {
    return this.#welcomedAt !== null;
  }

  /** The last moment at which the rows were known to be the newest. A frame that had to wait for this viewer was due that much earlier. */
  get currentAt(): number | null {
    return this.#currentAt;
  }

  send(message: ViewerMessage): void {
    this.#link?.send(message);
  }

  async close(): Promise<void> {
    if (this.state.value.phase === 'closed') return;
    const link = this.#link;
    this.#unlink();
    this.#stop();
    this.#step('closed');
    await link?.close();
  }

  #dial(): void {
    this.#cancelRetry = null;
    try {
      this.#link = new Link(this.#url, this.#key, this.#environment, {
        message: (message) => { this.#receive(message); },
        quiet: (quiet) => { this.#hush(quiet); },
        ended: (end) => { this.#ended(end); },
      });
    } catch (error) {
      this.#ended({ refused: false, problem: problemOf(error) });
    }
  }

  /** A link that is given up here is followed by the next one at once, as one that was lost before. */
  #wake(): void {
    this.#link?.probe();
    if (this.#cancelRetry === null) return;
    this.#cancelRetry();
    this.#dial();
  }

  #receive(message: ServerMessage): void {
    if (message.type === 'welcome') return this.#welcome();
    if (message.type === 'feed') this.#feed = message;
    if (this.#feed?.state === 'live') this.#currentAt = this.#environment.now() - lateness(message);
    const notice = message.type === 'error' && message.sub === undefined;
    if (message.type !== 'feed' && !notice) return this.#events.message(message);
    if (notice) this.#notice = problem(message.code, message.message, message.hint);
    this.#judge();
  }

  #welcome(): void {
    this.#welcomedAt = this.#environment.now();
    this.#events.ready();
  }

  #hush(quiet: boolean): void {
    this.#quiet = quiet;
    this.#judge();
  }

  #judge(): void {
    if (!this.ready || this.#feed === null) return;
    if (this.#quiet) return this.#step('stale', QUIET);
    if (this.#feed.state === 'live') return this.#step('live', this.#notice);
    const usual = this.#feed.state === 'filling' ? FILLING : STALE;
    this.#step('stale', { ...usual, message: this.#feed.message ?? usual.message });
  }

  #ended(end: LinkEnd): void {
    if (this.#wasSettled()) this.#attempt = 0;
    this.#unlink();
    if (end.refused) {
      this.#stop();
      return this.#step('refused', end.problem);
    }
    const delay = backoffMs(this.#attempt++, this.#environment.random);
    this.#cancelRetry = this.#environment.after(delay, () => { this.#dial(); });
    this.#step('reconnecting', end.problem);
  }

  /** A server that takes us in and throws us out at once must not be asked again at once. */
  #wasSettled(): boolean {
    return this.#welcomedAt !== null && this.#environment.now() - this.#welcomedAt >= SETTLED_AFTER_MS;
  }

  #unlink(): void {
    this.#link = null;
    this.#welcomedAt = null;
    this.#feed = null;
    this.#notice = null;
    this.#quiet = false;
    this.#events.lost();
  }

  #stop(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    this.#stopWaking();
  }

  #step(phase: ConnectionPhase, why: Problem | null = null): void {
    this.state.set(step(this.state.value, phase, why));
  }
}

function lateness(message: ServerMessage): number {
  return message.type === 'frame' ? (message.late ?? 0) : 0;
}
