import { computed, DestroyRef, effect, inject, linkedSignal, resource, Service, signal } from '@angular/core';
import type { Access, Catalogue, ConnectionState, Problem, Role } from '@tablecast/client';
import { problemOf, readCatalogue, TableHub } from '@tablecast/client';
import { ENVIRONMENT } from './environment.ts';
import type { PlainAccess } from './keyring.ts';
import { Keyring } from './keyring.ts';
import { Portal } from './portal.ts';

const READ_AGAIN_MS = 3_000;
/** A page around this one that gives tokens does so sooner than this; one that gives none must not keep anybody waiting. */
const PORTAL_FIRST_MS = 1_000;

/** One viewer's stay: from the key to the log out. */
@Service()
export class Session {
  readonly #environment = inject(ENVIRONMENT);
  readonly #keyring = inject(Keyring);
  readonly #portal = inject(Portal);
  readonly #access = signal<Access | null>(null);
  readonly #hub = signal<TableHub | null>(null);
  readonly #state = signal<ConnectionState | null>(null);
  readonly #problem = signal<Problem | null>(null);
  readonly #role = signal<Role>('operator');

  readonly hub = this.#hub.asReadonly();
  /** What the present login may do. */
  readonly role = this.#role.asReadonly();
  /** For questions to the server of the present connection, with its key. */
  readonly access = this.#access.asReadonly();
  /** How the connection stands; null when there is none to speak of. */
  readonly state = this.#state.asReadonly();
  /** Why there is no way in. */
  readonly problem = this.#problem.asReadonly();
  /** The server took the key; a connection that is lost later changes nothing about that. */
  readonly entered = linkedSignal<{ hub: TableHub | null; connected: boolean }, boolean>({
    source: () => ({ hub: this.#hub(), connected: this.connected() }),
    computation: ({ hub, connected }, before) => connected || (before?.source.hub === hub && before.value),
  }).asReadonly();

  readonly connected = computed(() => ['live', 'stale'].includes(this.#state()?.phase ?? ''));
  /** A server that is still filling its tables has none to tell of; it is asked once it has. */
  readonly filled = computed(() => this.connected() && this.#state()?.problem?.code !== 'feed_filling');
  readonly #answer = resource({
    params: () => (this.filled() ? (this.#access() ?? undefined) : undefined),
    loader: ({ params, abortSignal }) => readCatalogue(params, abortSignal),
  });
  /** What the server has to show: as last read, also through a lost connection, until the stay ends. */
  readonly catalogue = linkedSignal<{ access: Access | null; answer: Catalogue | undefined }, Catalogue | null>({
    source: () => ({ access: this.#access(), answer: this.#answer.hasValue() ? this.#answer.value() : undefined }),
    computation: ({ access, answer }, before) => answer ?? (access === before?.source.access ? before.value : null),
  }).asReadonly();
  /** Why it cannot be read; it stays while the server is asked again, so that it is said once. */
  readonly catalogueProblem = linkedSignal<{ error: Error | undefined; asking: boolean }, Problem | null>({
    source: () => ({ error: this.#answer.error(), asking: this.#answer.isLoading() }),
    computation: ({ error, asking }, before) => (error !== undefined ? problemOf(error.cause ?? error) : asking ? (before?.value ?? null) : null),
  }).asReadonly();

  constructor() {
    effect((onCleanup) => {
      if (this.filled() && this.catalogueProblem() !== null) onCleanup(this.#environment.after(READ_AGAIN_MS, () => { this.readAgain(); }));
    });
    inject(DestroyRef).onDestroy(() => { this.#end(); });
  }

  /**
   * Enters with the key of the address bar, or else of whoever shows this page in a frame, or else of this tab. The token that a tab
   * in a frame was last let in with may have expired, so it is used only where nobody gives another.
   */
  resume(): void {
    const given = this.#keyring.fromFragment();
    const kept = given ?? this.#keyring.fromStorage();
    if (given === null && this.#portal.isThere) this.#enterByPortal(kept);
    else if (kept !== null) this.enter(kept);
  }

  /** The address bar changed under the open page: only a key in it means something. */
  followAddress(): void {
    const access = this.#keyring.fromFragment();
    if (access !== null) this.enter(access);
  }

  enter(access: PlainAccess): void {
    this.#end();
    this.#problem.set(null);
    try {
      const hub = new TableHub(this.#renewable(access), this.#environment);
      this.#access.set(hub.access);
      this.#hub.set(hub);
      this.#state.set(hub.connection.value);
      this.#role.set(hub.role.value);
      hub.connection.watch((state) => { this.#follow(hub, state); });
      hub.role.watch((role) => { if (hub === this.#hub()) this.#role.set(role); });
      this.#keyring.keep(access);
    } catch (error) {
      this.#problem.set(problemOf(error));
    }
  }

  leave(): void {
    this.#end();
    this.#problem.set(null);
    this.#keyring.forget();
  }

  /** The list of tables: a new generation may have others. */
  readAgain(): void {
    this.#answer.reload();
  }

  #enterByPortal(kept: PlainAccess | null): void {
    const cancel = this.#environment.after(PORTAL_FIRST_MS, () => { if (kept !== null && this.#hub() === null) this.enter(kept); });
    void this.#portal.token().then((key) => {
      cancel();
      if (key !== '' && this.#hub() === null) this.enter({ url: this.#keyring.origin, key });
    });
  }

  /** Whoever shows this page in a frame is asked for the next token when this one has expired. */
  #renewable(access: PlainAccess): Access {
    return this.#portal.isThere && access.key.trim() !== '' ? { ...access, key: this.#portal.renewing(access.key) } : access;
  }

  #follow(hub: TableHub, state: ConnectionState): void {
    if (hub !== this.#hub()) return;
    if (state.phase === 'refused') {
      this.#end();
      this.#keyring.forget();
      this.#problem.set(state.problem);
    }
    this.#state.set(state);
  }

  /** The socket closes behind the page's back: nobody waits for it. */
  #end(): void {
    const hub = this.#hub();
    this.#hub.set(null);
    this.#access.set(null);
    this.#state.set(null);
    void hub?.close();
  }
}
