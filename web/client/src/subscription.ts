import { backoffMs } from './backoff.ts';
import type { Problem } from './errors.ts';
import { problem } from './errors.ts';
import { RowStore } from './row-store.ts';
import type { ErrorMessage, FoundMessage, FrameMessage, OpenedMessage } from './server-message.ts';
import type { TableState } from './table-state.ts';
import { sameTableState } from './table-state.ts';
import { AHEAD, Taking } from './taking.ts';
import type { View, Viewport } from './view.ts';
import { sameViewport } from './view.ts';
import type { ViewerMessage } from './viewer-message.ts';
import { find, move, open, took } from './viewer-message.ts';
import { Watched } from './watched.ts';

/** What a subscription needs of the connection that it lives on. */
export interface Line {
  /** A number for `subscription` that this connection has not used yet; its messages come to `receive`. */
  readonly enlist: (subscription: Subscription) => number;
  readonly dismiss: (sub: number) => void;
  readonly send: (message: ViewerMessage) => void;
  readonly now: () => number;
  readonly after: (ms: number, task: () => void) => () => void;
  readonly random: () => number;
}

/** Refusals of a view that pass by themselves, or once another view is closed. */
const PASSING = ['not_ready', 'too_many_views', 'too_many_own_views', 'too_many_subscriptions'];
/** Whoever is refused waits longer than whoever lost the connection: there may be many of them, and the server is full. */
const SLOWER = 4;

/**
 * One view on the wire. At most one request is on its way; of the windows that were wanted meanwhile only the newest is asked
 * for next. It outlives connections: each `attach` opens it again at the wanted window.
 */
export class Subscription {
  readonly view: View;
  readonly state: Watched<TableState>;
  readonly #store = new RowStore();
  #line: Line | null = null;
  #sub: number | null = null;
  #taking: Taking | null = null;
  #request = 0;
  #asked: Viewport | null = null;
  #settled: Viewport | null = null;
  #returning = false;
  #refusals = 0;
  #cancelRetry: (() => void) | null = null;
  #ended = false;
  readonly #sought: { readonly row: string; readonly settle: (index: number | null) => void }[] = [];

  constructor(view: View, viewport: Viewport) {
    this.view = view;
    this.state = new Watched<TableState>({ snapshot: null, updatedAt: null, viewport, fresh: false, problem: null }, sameTableState);
  }

  /** Its rows came over an earlier connection, and those of this one are on their way. */
  get outdated(): boolean {
    return this.#asked !== null && this.#settled === null && this.#store.snapshot !== null;
  }

  attach(line: Line): void {
    this.#line = line;
    this.#settled = null;
    this.#ask();
  }

  /** Returns the number that the server knows this subscription by, if it does. */
  detach(): number | null {
    const sub = this.#sub;
    if (sub !== null) this.#line?.dismiss(sub);
    this.#taking?.stop();
    this.#wait(null);
    this.#line = null;
    this.#sub = null;
    this.#asked = null;
    this.#publish({ fresh: false });
    return sub;
  }

  move(viewport: Viewport): void {
    if (sameViewport(viewport, this.state.value.viewport)) return;
    this.#want(viewport);
  }

  /** Asks for the wanted window again, also after a refusal. */
  refresh(): void {
    this.#want(this.state.value.viewport);
  }

  /** The server shows another generation: what had no place in the last one may have one now. */
  reopen(): void {
    if (this.#sub === null && this.state.value.problem !== null) this.#ask();
  }

  /** Where a row stands in the view, however far from the window; null when it is not in it, or when the view is refused or closed. One is looked for at a time. */
  find(row: string): Promise<number | null> {
    if (this.#ended) return Promise.resolve(null);
    return new Promise((settle) => {
      this.#sought.push({ row, settle });
      if (this.#sought.length === 1) this.#seek();
    });
  }

  /** Nobody holds it any more: whoever still waits for a row need not. */
  end(): void {
    this.#ended = true;
    this.#stopFinding();
  }

  receive(message: OpenedMessage | FrameMessage | FoundMessage | ErrorMessage): void {
    if (message.type === 'opened') this.#store.announce(message);
    else if (message.type === 'frame') this.#take(message);
    else if (message.type === 'found') this.#found(message);
    else this.#refused(message);
  }

  #want(viewport: Viewport): void {
    this.#publish({ viewport, fresh: false });
    if (this.#asked === null) this.#ask();
  }

  #ask(): void {
    if (this.#line === null) return;
    const viewport = this.state.value.viewport;
    this.#asked = viewport;
    this.#wait(null);
    if (this.#sub === null) {
      this.#sub = this.#line.enlist(this);
      this.#taking = takingOf(this.#line, this.#sub);
      this.#request = 1;
      this.#store.restart();
      this.#line.send(open(this.#sub, this.#request, this.view, viewport, AHEAD));
      this.#seek();
    } else {
      this.#request += 1;
      this.#line.send(move(this.#sub, this.#request, viewport));
    }
    this.#store.expect(this.#request);
  }

  #seek(): void {
    const [first] = this.#sought;
    if (first !== undefined && this.#sub !== null) this.#line?.send(find(this.#sub, first.row));
  }

  #found({ row, index }: FoundMessage): void {
    if (this.#sought[0]?.row !== row) return;
    this.#sought.shift()?.settle(index);
    this.#seek();
  }

  #take(frame: FrameMessage): void {
    const generation = this.#store.snapshot?.generation;
    this.#taking?.took(frame.revision);
    if (!this.#store.apply(frame)) return;
    const answered = this.#asked;
    this.#asked = null;
    this.#refusals = 0;
    if (answered !== null) this.#settled = answered;
    const wanted = this.state.value.viewport;
    const forgiven = (answered !== null && !this.#returning) || frame.generation !== generation;
    this.#returning = false;
    const current = answered === null || sameViewport(answered, wanted);
    this.#publish({
      snapshot: this.#store.snapshot,
      updatedAt: this.#line?.now() ?? null,
      fresh: current,
      ...(forgiven ? { problem: null } : {}),
    });
    if (!current) this.#ask();
  }

  #refused(error: ErrorMessage): void {
    const asked = this.#asked;
    const told = problem(error.code, error.message, error.hint);
    this.#asked = null;
    if (asked === null) return this.#gone(told);
    this.#publish({ problem: told });
    if (this.#request === 1) this.#unlist();
    if (!sameViewport(asked, this.state.value.viewport)) this.#ask();
    else if (this.#sub !== null) this.#goBack(asked);
    else if (PASSING.includes(error.code)) this.#retry(1_000 * (error.retryAfter ?? 0));
  }

  #retry(notBeforeMs: number): void {
    if (this.#line === null) return;
    const { after, random } = this.#line;
    const delay = Math.max(notBeforeMs, SLOWER * backoffMs(this.#refusals++, random));
    this.#wait(after(delay, () => { this.#ask(); }));
  }

  /** At most one further try is waited for. */
  #wait(cancel: (() => void) | null): void {
    this.#cancelRetry?.();
    this.#cancelRetry = cancel;
  }

  /** Nobody asked: a new generation does not have the view, and what is here are rows of one that is gone. */
  #gone(why: Problem): void {
    this.#publish({ problem: why, fresh: false });
    this.#stopFinding();
  }

  #unlist(): void {
    if (this.#sub !== null) this.#line?.dismiss(this.#sub);
    this.#sub = null;
    this.#stopFinding();
  }

  #stopFinding(): void {
    for (const { settle } of this.#sought.splice(0)) settle(null);
  }

  /** The server kept the old window, but its frames were dropped meanwhile: the old window is asked for once more. */
  #goBack(from: Viewport): void {
    const settled = this.#settled;
    if (settled === null || sameViewport(settled, from)) return;
    this.#returning = true;
    this.#publish({ viewport: settled });
    this.#ask();
  }

  #publish(change: Partial<TableState>): void {
    this.state.set({ ...this.state.value, ...change });
  }
}

function takingOf({ send, now, after }: Line, sub: number): Taking {
  return new Taking({ send: (revision) => { send(took(sub, revision)); }, now, after });
}
