import type { Access } from './access.ts';
import { givenKey } from './access.ts';
import { Connection } from './connection.ts';
import type { ConnectionState } from './connection-state.ts';
import type { Environment } from './environment.ts';
import { hostEnvironment } from './environment.ts';
import { TablecastError } from './errors.ts';
import { LiveTable } from './live-table.ts';
import type { ServerMessage } from './server-message.ts';
import { socketUrl } from './server-url.ts';
import type { Line } from './subscription.ts';
import { Subscription } from './subscription.ts';
import type { View, Viewport } from './view.ts';
import { FIRST_PAGE, tidyViewport, viewKey } from './view.ts';
import { close } from './viewer-message.ts';
import type { Watchable } from './watched.ts';

interface Held {
  readonly subscription: Subscription;
  holders: number;
}

/**
 * The one connection of a page to a table server, and the views that are open on it. It logs in, reconnects and opens the views
 * again by itself until it is closed. A missing URL or key throws at once; a wrong key makes it `refused`.
 */
export class TableHub {
  readonly #held = new Map<string, Held>();
  readonly #enlisted = new Map<number, Subscription>();
  readonly #closing = new Map<number, () => void>();
  readonly #connection: Connection;
  readonly #line: Line;
  #subs = 0;
  #closed: Promise<void> | null = null;

  constructor(access: Access, environment: Environment = hostEnvironment()) {
    this.#line = {
      enlist: (subscription) => this.#enlist(subscription),
      dismiss: (sub) => this.#enlisted.delete(sub),
      send: (message) => { this.#connection.send(message); },
    };
    this.#connection = new Connection(socketUrl(access.url), givenKey(access), environment, {
      ready: () => { this.#attachAll(); },
      message: (message) => { this.#receive(message); },
      lost: () => { this.#detachAll(); },
    });
  }

  get connection(): Watchable<ConnectionState> {
    return this.#connection.state;
  }

  /** How many views are open, however many hold each. */
  get subscriptions(): number {
    return this.#held.size;
  }

  /** Opens a view, or joins it at the window where it stands when it is open already. */
  open(view: View, viewport: Viewport = FIRST_PAGE): LiveTable {
    if (this.#closed !== null) {
      throw new TablecastError('closed_hub', `'${view.table}' cannot be opened: the hub was closed.`, 'Make a new TableHub.');
    }
    const key = viewKey(view);
    const held = this.#held.get(key) ?? this.#hold(key, view, tidyViewport(viewport));
    held.holders += 1;
    return new LiveTable(held.subscription, () => this.#release(key, held));
  }

  /** Closes every view and the socket. Resolves when the socket is closed. */
  close(): Promise<void> {
    this.#closed ??= this.#connection.close();
    this.#held.clear();
    return this.#closed;
  }

  #hold(key: string, view: View, viewport: Viewport): Held {
    const held = { subscription: new Subscription(view, viewport), holders: 0 };
    this.#held.set(key, held);
    if (this.#connection.ready) held.subscription.attach(this.#line);
    return held;
  }

  async #release(key: string, held: Held): Promise<void> {
    held.holders -= 1;
    if (held.holders > 0) return;
    if (this.#held.get(key) === held) this.#held.delete(key);
    const sub = held.subscription.detach();
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
    if (message.type === 'opened' || message.type === 'frame' || message.type === 'error') {
      this.#enlisted.get(message.sub ?? 0)?.receive(message);
    }
  }

  /** A view that the server refuses while it is being closed is closed too. */
  #settle(sub: number): void {
    this.#closing.get(sub)?.();
    this.#closing.delete(sub);
  }

  #attachAll(): void {
    for (const { subscription } of this.#held.values()) subscription.attach(this.#line);
  }

  #detachAll(): void {
    for (const { subscription } of this.#held.values()) subscription.detach();
    for (const sub of [...this.#closing.keys()]) this.#settle(sub);
  }
}
