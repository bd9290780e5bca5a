import type { Key } from './access.ts';
import { checkedKey } from './access.ts';
import { backoffMs } from './backoff.ts';
import type { ConnectionPhase, ConnectionState } from './connection-state.ts';
import { sameState, step } from './connection-state.ts';
import type { Environment } from './environment.ts';
import type { Problem } from './errors.ts';
import { problem, problemOf } from './errors.ts';
import type { LinkEnd } from './link.ts';
import { Link } from './link.ts';
import type { FeedMessage, Role, ServerMessage, WelcomeMessage } from './server-message.ts';
import type { ViewerMessage } from './viewer-message.ts';
import { Watched } from './watched.ts';

export interface ConnectionEvents {
  /** Logged in on a fresh socket that knows no subscription. */
  readonly ready: () => void;
  readonly message: (message: ServerMessage) => void;
  /** The socket is gone, and its subscriptions with it. */
  readonly lost: () => void;
  /** Whether rows of an earlier socket are still shown: no message makes those the newest. */
  readonly outdated: () => boolean;
}

const SETTLED_AFTER_MS = 10_000;
/** Whoever gives the keys may have to ask a person or another server. */
const KEY_WITHIN_MS = 30_000;
const NO_KEY = problem('no_key', 'Nobody gives a key for the login.', 'The page keeps asking.');
const QUIET = problem('no_answer', 'The server does not answer.', 'The rows may be old; the page keeps trying.');
const FILLING = problem('feed_filling', 'The server is still filling its tables.', 'The rows are not complete yet.');
const STALE = problem('feed_stale', 'The server does not get new rows.', 'The rows may be old; the operator can see why.');

/** Keeps one link to the server alive, and says honestly how it stands. */
export class Connection {
  readonly state = new Watched<ConnectionState>({ phase: 'connecting', problem: null }, sameState);
  /** What this login may do; what the last one might, while there is none. */
  readonly role = new Watched<Role>('operator', Object.is);
  readonly #url: string;
  readonly #key: Key;
  readonly #environment: Environment;
  readonly #events: ConnectionEvents;
  readonly #stopWatching: () => void;
  #link: Link | null = null;
  #cancelRetry: (() => void) | null = null;
  #cancelAsking: (() => void) | null = null;
  #attempt = 0;
  /** The server does not want to be asked before. */
  #notBefore = 0;
  #welcomedAt: number | null = null;
  #feed: FeedMessage | null = null;
  #notice: Problem | null = null;
  #quiet = false;
  #currentAt: number | null = null;
  #shown: string | null = null;
  /** Counts the keys that were asked for: one that comes too late is not used. */
  #askings = 0;
  #last: Problem | null = null;

  constructor(url: string, key: Key, environment: Environment, events: ConnectionEvents) {
    this.#url = url;
    this.#key = key;
    this.#environment = environment;
    this.#events = events;
    const watches = [environment.onWake(() => { this.#wake(); }), environment.onAway(() => { this.#link?.doubt(); })];
    this.#stopWatching = () => { for (const stop of watches) stop(); };
    this.#dial();
  }

  /** The key of the last login, or of the next one where there was none yet. */
  get key(): Key {
    return this.#shown ?? this.#key;
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
    if (typeof this.#key === 'string') return this.#dialWith(this.#key);
    const asking = ++this.#askings;
    const current = (): boolean => asking === this.#askings;
    const cancel = (this.#cancelAsking = this.#environment.after(KEY_WITHIN_MS, () => { if (current()) this.#keyless(NO_KEY); }));
    const ask = this.#key;
    // Whatever way it fails is a rejection.
    void new Promise<string>((resolve) => { resolve(ask()); })
      .then((key) => { if (current()) this.#dialWith(key); }, (error: unknown) => { if (current()) this.#keyless(problemOf(error)); })
      .finally(cancel);
  }

  #dialWith(key: string): void {
    this.#askings += 1;
    try {
      this.#shown = checkedKey(key);
    } catch (error) {
      // Who has no further key leaves it at what was wrong with the last one.
      return this.#ended({ refused: true, over: false, problem: this.#last ?? problemOf(error), retryAfterMs: 0 });
    }
    try {
      this.#link = new Link(this.#url, this.#shown, this.#environment, {
        message: (message) => { this.#receive(message); },
        quiet: (quiet) => { this.#hush(quiet); },
        ended: (end) => { this.#ended(end); },
      });
    } catch (error) {
      this.#ended({ refused: false, over: false, problem: problemOf(error), retryAfterMs: 0 });
    }
  }

  #keyless(why: Problem): void {
    this.#askings += 1;
    this.#ended({ refused: false, over: false, problem: why, retryAfterMs: 0 });
  }

  /** A link that is given up here is followed by the next one at once, as one that was lost before, unless the server asked for a pause. */
  #wake(): void {
    this.#link?.probe();
    if (this.#cancelRetry === null || this.#environment.now() < this.#notBefore) return;
    this.#cancelRetry();
    this.#dial();
  }

  #receive(message: ServerMessage): void {
    if (message.type === 'welcome') return this.#welcome(message);
    if (message.type === 'feed') this.#feed = message;
    const notice = message.type === 'error' && message.sub === undefined;
    if (message.type !== 'feed' && !notice) this.#events.message(message);
    if (this.#feed?.state === 'live' && !this.#events.outdated()) this.#currentAt = this.#environment.now() - lateness(message);
    if (notice) this.#notice = problem(message.code, message.message, message.hint);
    if (message.type === 'feed' || notice) this.#judge();
  }

  #welcome({ role = 'operator' }: WelcomeMessage): void {
    this.#welcomedAt = this.#environment.now();
    this.#last = null;
    this.role.set(role);
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
    // A login that was good and is over is followed by the next one, where there is somebody to ask for a key.
    const renewable = end.over && this.ready && typeof this.#key === 'function';
    this.#last = end.problem;
    this.#unlink();
    if (end.refused && !renewable) {
      this.#stop();
      return this.#step('refused', end.problem);
    }
    this.#notBefore = this.#environment.now() + end.retryAfterMs;
    const delay = Math.max(end.retryAfterMs, backoffMs(this.#attempt++, this.#environment.random));
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
    this.#askings += 1;
    this.#cancelAsking?.();
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    this.#stopWatching();
  }

  #step(phase: ConnectionPhase, why: Problem | null = null): void {
    this.state.set(step(this.state.value, phase, why));
  }
}

function lateness(message: ServerMessage): number {
  return message.type === 'frame' ? (message.late ?? 0) : 0;
}
