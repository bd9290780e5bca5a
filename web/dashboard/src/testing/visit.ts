import type { ComponentFixture } from '@angular/core/testing';
import { TestBed } from '@angular/core/testing';
import { FakeWorld, frame, opened } from '@tablecast/client/testing';
import type { Mock } from 'vitest';
import { vi } from 'vitest';
import { Dashboard } from '../dashboard.ts';
import { ENVIRONMENT } from '../environment.ts';

export const COLUMNS = [{ name: 'name', type: 'string' }];
const table = (name: string) => ({ name, columns: COLUMNS, rows: 1, generation: 3 });
export const CATALOGUE = { tables: ['account', 'users_ui', 'final_ui'].map(table), aliases: { user: 'users_ui' } };

const STATUS_COLUMNS = ['usersTopic', 'accountsTopic', 'joinType', 'lastApplied', 'generation', 'state', 'building', 'lastError'];
const CONTROL_COLUMNS = ['id', 'received', 'text', 'verdict', 'reason', 'generation'];
const LIVE = { usersTopic: 'users', accountsTopic: 'accounts', joinType: 'left', lastApplied: '2026-01-01T00:00:00Z', generation: '3', state: 'live' };

type Answer = Response | Promise<Response>;
export const answer = (body: object | string, status = 200): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });

/** A page in a world of its own, and a server whose every answer is the test's. */
export class Visit {
  readonly world = new FakeWorld();
  /** By path; what is not here is 404. */
  readonly paths: Record<string, () => Answer> = {
    '/api/tables': () => answer(CATALOGUE),
    '/api/status': () => answer({ generations: [] }),
    '/metrics': () => answer(''),
    '/api/topics': () => answer({ topics: [{ name: 'users', partitions: 1 }, { name: 'users_v2', partitions: 1 }, { name: 'accounts', partitions: 1 }] }),
  };
  readonly ask: Mock<(url: string, request: RequestInit) => Promise<Response>>;
  fixture!: ComponentFixture<Dashboard>;

  constructor() {
    this.ask = vi.fn(async (url: string) => await (this.paths[new URL(url).pathname]?.() ?? answer({}, 404)));
    vi.stubGlobal('fetch', this.ask);
    // Where tests run there is no screen.
    Object.defineProperty(document.defaultView, 'matchMedia', { configurable: true, value: () => new NoQuery() });
    this.provide();
  }

  provide(): void {
    TestBed.configureTestingModule({ providers: [{ provide: ENVIRONMENT, useValue: this.world.environment }] });
  }

  async mount(): Promise<void> {
    this.fixture = TestBed.createComponent(Dashboard);
    await this.settle();
  }

  /** Mounted, logged in and welcomed. */
  async enter(key = 'sesame'): Promise<void> {
    await this.mount();
    await this.submit(key);
    await this.welcomed();
  }

  async submit(key: string): Promise<void> {
    this.field('key').value = key;
    await this.click('enter');
  }

  async welcomed(): Promise<void> {
    this.world.socket.welcome();
    await this.settle();
  }

  async settle(): Promise<void> {
    await this.fixture.whenStable();
    await new Promise((resolve) => { setTimeout(resolve); });
    await this.fixture.whenStable();
  }

  async advance(ms: number): Promise<void> {
    this.world.advance(ms);
    await this.settle();
  }

  find(id: string): HTMLElement | null {
    return (this.fixture.nativeElement as HTMLElement).querySelector<HTMLElement>(`[data-testid="${id}"]`);
  }

  all(id: string): HTMLElement[] {
    return [...(this.fixture.nativeElement as HTMLElement).querySelectorAll<HTMLElement>(`[data-testid="${id}"]`)];
  }

  field(id: string): HTMLInputElement {
    return this.find(id) as HTMLInputElement;
  }

  text(id: string): string | undefined {
    return this.find(id)?.textContent.replace(/\s+/g, ' ').trim();
  }

  async click(id: string): Promise<void> {
    this.find(id)?.click();
    await this.settle();
  }

  async press(code: string): Promise<void> {
    window.dispatchEvent(new KeyboardEvent('keydown', { code, altKey: true, shiftKey: true, cancelable: true }));
    await this.settle();
  }

  /** What the panels show, in their order. */
  shown(): string[] {
    return this.all('panel').map((panel) => panel.dataset['shows'] ?? '');
  }

  /** The tables that are open on the server. */
  open(): string[] {
    const { socket } = this.world;
    const closed = new Set(socket.heard('close').map(({ sub }) => sub));
    return socket.heard('open').filter(({ sub }) => !closed.has(sub)).map(({ table: name }) => name);
  }

  subOf(name: string): number {
    return this.world.socket.heard('open').findLast((open) => open.table === name)?.sub ?? 0;
  }

  /** The orchestrator says what is live. */
  async orchestrator(change: Record<string, string | null> = {}): Promise<void> {
    await this.rows('orchestrator_status', STATUS_COLUMNS, { orchestrator: { ...LIVE, ...change } });
  }

  /** A control message has this verdict. */
  async verdict(id: string, verdict: string, more: Record<string, string | null> = {}): Promise<void> {
    const row = { id, received: '2026-01-01T00:00:00Z', text: '{"usersTopic":"users_v2"}', verdict, ...more };
    await this.rows('control_raw', CONTROL_COLUMNS, { [id]: row });
  }

  async rows(name: string, columns: readonly string[], rows: Record<string, Record<string, string | null>>, generation = 3): Promise<void> {
    const sub = this.subOf(name);
    this.world.socket.say(opened(sub, columns.map((column) => ({ name: column, type: 'string' })), generation, name));
    this.world.socket.say(frame(sub, rows, { generation, revision: ++this.#revision }));
    await this.settle();
  }

  #revision = 1;
}

/** A media query that never matches. */
class NoQuery extends EventTarget {
  readonly matches = false;
}

/** To be called after each test. */
export function leave(): void {
  vi.unstubAllGlobals();
  sessionStorage.clear();
  localStorage.clear();
  delete document.documentElement.dataset['theme'];
  history.replaceState(null, '', '/');
}
