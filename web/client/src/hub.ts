import type { Access } from './access.ts';
import { checkedKey } from './access.ts';
import { Connection } from './connection.ts';
import type { ConnectionState } from './connection-state.ts';
import type { Environment } from './environment.ts';
import { hostEnvironment } from './environment.ts';
import { TablecastError } from './errors.ts';
import type { ExportedFile, ExportFormat, Formulas } from './export.ts';
import { exportView } from './export.ts';
import { Holdings } from './holdings.ts';
import { LiveTable } from './live-table.ts';
import type { Progress } from './progress.ts';
import { readProgress } from './progress.ts';
import type { Role, ServerMessage } from './server-message.ts';
import { socketUrl } from './server-url.ts';
import type { Line, Subscription } from './subscription.ts';
import type { View, Viewport } from './view.ts';
import { close } from './viewer-message.ts';
import type { Watchable } from './watched.ts';

/**
 * The one connection of a page to a table server, and the views that are open on it. It logs in, reconnects and opens the views
 * again by itself until it is closed. A missing URL or key throws at once; a wrong key makes it `refused`. A key that is a function
 * is asked at each login.
 */
export class TableHub {
  readonly #holdings: Holdings;
  readonly #enlisted = new Map<number, Subscription>();
  readonly #closing = new Map<number, () => void>();
  readonly #connection: Connection;
  readonly #line: Line;
  /** For questions over HTTP: the same server, with the key of the present login. */
  readonly access: Access;
  #subs = 0;
  /** The newest that any view was told of. */
  #generation: number | null = null;
  #closed: Promise<void> | null = null;

  constructor(access: Access, environment: Environment = hostEnvironment()) {
    this.#line = {
      enlist: (subscription) => this.#enlist(subscription),
      dismiss: (sub) => this.#enlisted.delete(sub),
      send: (message) => { this.#connection.send(message); },
      now: environment.now,
      after: environment.after,
      random: environment.random,
    };
    this.#holdings = new Holdings({
      begun: ({ subscription }) => { if (this.#connection.ready) subscription.attach(this.#line); },
      ended: ({ subscription }) => this.#end(subscription),
    });
    const key = typeof access.key === 'string' ? checkedKey(access.key) : access.key;
    this.#connection = new Connection(socketUrl(access.url), key, environment, {
      ready: () => { this.#attachAll(); },
      message: (message) => { this.#receive(message); },
      lost: () => { this.#detachAll(); },
      outdated: () => this.#holdings.all.some(({ subscription }) => subscription.outdated),
    });
    this.access = { url: access.url, key: () => this.#keyNow() };
  }

  get connection(): Watchable<ConnectionState> {
    return this.#connection.state;
  }

  /** What the login may do: look, or swap topics too. Known once it is `live` or `stale`. */
  get role(): Watchable<Role> {
    return this.#connection.role;
  }

  /**
   * The last moment, by this machine's clock, at which the rows were known to be the newest there are: the server was heard and its
   * feed was live. The time since then is the age of the data. Null before the first such moment.
   */
  get currentAt(): number | null {
    return this.#connection.currentAt;
  }

  /** How many subscriptions are open, however many hold each. */
  get subscriptions(): number {
    return this.#holdings.all.length;
  }

  /**
   * Opens a window of a view, or joins it when it is open already. Without a window it goes along with whoever chose one for this
   * view, and with the first page where nobody did.
   */
  open(view: View, viewport: Viewport | null = null): LiveTable {
    if (this.#closed !== null) {
      throw new TablecastError('closed_hub', `'${view.table}' cannot be opened: the hub was closed.`, 'Make a new TableHub.');
    }
    return new LiveTable(this.#holdings, view, viewport);
  }

  /** All rows of a view at one instant, as a file. One that a person will open in a spreadsheet is better asked for with `neutralise`. */
  export(view: View, format: ExportFormat, signal: AbortSignal | null = null, formulas: Formulas = 'keep'): Promise<ExportedFile> {
    return exportView(this.access, view, format, signal, formulas);
  }

  /** How far the generation in the making has come; null where none is being filled. */
  progress(signal: AbortSignal | null = null): Promise<Progress | null> {
    return readProgress(this.access, signal);
  }

  /** Closes every view and the socket. Resolves when the socket is closed. */
  close(): Promise<void> {
    this.#closed ??= this.#connection.close();
    for (const { subscription } of this.#holdings.all) subscription.end();
    this.#holdings.clear();
    return this.#closed;
  }

  #keyNow(): string | Promise<string> {
    const { key } = this.#connection;
    return typeof key === 'function' ? key() : key;
  }

  async #end(subscription: Subscription): Promise<void> {
    const sub = subscription.detach();
    subscription.end();
    if (sub === null) return;
    await new Promise<void>((resolve) => {
      this.#closing.set(sub, resolve);
      this.#connection.send(close(sub));
    });
  }

  #enlist(subscription: Subscription): number {
    this.#subs += 1;
    this.#enlisted.set(this.#subs, subscription);
    return this.#subs;
  }

  #receive(message: ServerMessage): void {
    if (message.type === 'closed') return this.#settle(message.sub);
    if (message.type === 'error' && message.sub !== undefined) this.#settle(message.sub);
    if (message.type === 'opened' || message.type === 'frame' || message.type === 'found' || message.type === 'error') {
      this.#enlisted.get(message.sub ?? 0)?.receive(message);
    }
    if (message.type === 'opened' || message.type === 'frame') this.#shows(message.generation);
  }

  #shows(generation: number): void {
    const newer = this.#generation !== null && generation > this.#generation;
    this.#generation = Math.max(generation, this.#generation ?? 0);
    if (newer) for (const { subscription } of this.#holdings.all) subscription.reopen();
  }

  /** A view that the server refuses while it is being closed is closed too. */
  #settle(sub: number): void {
    this.#closing.get(sub)?.();
    this.#closing.delete(sub);
  }

  #attachAll(): void {
    for (const { subscription } of this.#holdings.all) subscription.attach(this.#line);
  }

  #detachAll(): void {
    for (const { subscription } of this.#holdings.all) subscription.detach();
    for (const sub of [...this.#closing.keys()]) this.#settle(sub);
  }
}
