import type { ComponentFixture } from '@angular/core/testing';
import { TestBed } from '@angular/core/testing';
import { errorMessage, FakeWorld, feed, frame, opened, welcome } from '@tablecast/client/testing';
import type { Mock } from 'vitest';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Dashboard } from './dashboard.ts';
import { ENVIRONMENT } from './session.ts';

const COLUMNS = [{ name: 'name', type: 'string' }];
const table = (name: string) => ({ name, columns: COLUMNS, rows: 1, generation: 3 });
const CATALOGUE = { tables: [table('account'), table('users_ui')], aliases: { user: 'users_ui' } };

let world: FakeWorld;
let fixture: ComponentFixture<Dashboard>;
let ask: Mock<(url: string, request: RequestInit) => Promise<Response>>;

const find = (id: string) => (fixture.nativeElement as HTMLElement).querySelector<HTMLElement>(`[data-testid="${id}"]`);
const field = (id: string) => find(id) as HTMLInputElement;
const text = (id: string) => find(id)?.textContent.replace(/\s+/g, ' ').trim();

const answering = (status: number, body: object) => Promise.resolve(new Response(JSON.stringify(body), { status }));

async function mount(): Promise<void> {
  fixture = TestBed.createComponent(Dashboard);
  await fixture.whenStable();
}

async function enter(key: string): Promise<void> {
  field('key').value = key;
  find('enter')?.click();
  await fixture.whenStable();
}

async function welcomed(): Promise<void> {
  world.socket.welcome();
  await fixture.whenStable();
}

beforeEach(() => {
  world = new FakeWorld();
  ask = vi.fn(() => answering(200, CATALOGUE));
  vi.stubGlobal('fetch', ask);
  TestBed.configureTestingModule({ providers: [{ provide: ENVIRONMENT, useValue: world.environment }] });
});

afterEach(() => {
  vi.unstubAllGlobals();
  sessionStorage.clear();
  history.replaceState(null, '', '/');
});

describe('logging in', () => {
  it('shows the form alone, with this page’s own server', async () => {
    await mount();
    expect(field('url').value).toBe(location.origin);
    expect([find('state'), find('grid'), find('leave')]).toEqual([null, null, null]);
    expect(world.sockets.length).toBe(0);
  });

  it('goes to the tables when the server takes the key', async () => {
    await mount();
    await enter('sesame');
    expect(text('state')).toBe('connecting');
    expect(find('login')).not.toBeNull();
    await welcomed();
    expect(text('state')).toBe('live');
    expect(find('login')).toBeNull();
    expect(find('table-users_ui')?.getAttribute('aria-current')).toBe('true');
    expect(text('table-users_ui')).toBe('users_ui user');
    expect(ask.mock.calls[0]?.[1].headers).toEqual({ Authorization: 'Bearer sesame' });
    expect(world.socket.heard('open').map((open) => open.table)).toEqual(['users_ui']);
  });

  it('without a key says so at once, and asks nobody', async () => {
    await mount();
    await enter('  ');
    expect(text('problem')).toContain('There is no key.');
    expect(world.sockets.length).toBe(0);
  });

  it('with a wrong key says so once, forgets it, and lets another be tried', async () => {
    await mount();
    await enter('wrong');
    world.socket.accept();
    world.socket.say(errorMessage('wrong_key'));
    await fixture.whenStable();
    expect([text('state'), text('problem'), find('reason')]).toEqual([
      'refused',
      'The server says wrong_key. Do the other thing.',
      null,
    ]);
    expect(sessionStorage.length).toBe(0);
    await enter('sesame');
    await welcomed();
    expect([text('state'), find('problem')]).toEqual(['live', null]);
  });

  it('by the fragment goes straight in, and takes the key out of the address bar', async () => {
    history.replaceState(null, '', '/?a=b#key=open%20sesame&rest');
    await mount();
    world.socket.accept();
    expect(world.socket.sent).toEqual([{ type: 'login', key: 'open sesame' }]);
    expect(location.href).toBe(`${location.origin}/?a=b#rest`);
  });

  it('by a fragment that is typed into the open page works too', async () => {
    await mount();
    history.replaceState(null, '', '#key=50%');
    window.dispatchEvent(new Event('hashchange'));
    world.socket.accept();
    expect(world.socket.last('login').key).toBe('50%');
    expect(location.hash).toBe('');
  });

  it('is remembered by this tab alone', async () => {
    await mount();
    await enter('sesame');
    await welcomed();
    expect([sessionStorage.length, localStorage.length, document.cookie]).toEqual([1, 0, '']);
    TestBed.resetTestingModule();
    expect(world.socket.closed).toBe(true);
    TestBed.configureTestingModule({ providers: [{ provide: ENVIRONMENT, useValue: world.environment }] });
    await mount();
    await welcomed();
    expect(text('state')).toBe('live');
  });

  it('is not done again when another part of the address changes', async () => {
    await mount();
    await enter('sesame');
    await welcomed();
    history.replaceState(null, '', '#elsewhere');
    window.dispatchEvent(new Event('hashchange'));
    expect(world.sockets.length).toBe(1);
  });
});

describe('the status', () => {
  beforeEach(async () => {
    await mount();
    await enter('sesame');
    await welcomed();
  });

  it('tells the generation, by the same subscription as the grid', async () => {
    world.socket.say(opened(1, COLUMNS, 3));
    world.socket.say(frame(1, { a: { name: 'Ann' } }, { generation: 3 }));
    await fixture.whenStable();
    expect(text('generation')).toBe('generation 3');
    expect(text('range')).toBe('rows 1-1 of 1');
    expect(world.socket.heard('open').length).toBe(1);
  });

  it('tells that the rows are stale, and why', async () => {
    world.socket.say(feed('stale', 'The broker is away.'));
    await fixture.whenStable();
    expect([text('state'), text('reason')]).toEqual(['stale', expect.stringContaining('The broker is away.')]);
  });

  it('tells that it reconnects, keeps the grid, and reads the tables again afterwards', async () => {
    world.socket.drop();
    await fixture.whenStable();
    expect([text('state'), find('grid') === null, find('table-account') === null]).toEqual(['reconnecting', false, false]);
    world.advance(150);
    await welcomed();
    expect([text('state'), ask.mock.calls.length]).toEqual(['live', 2]);
  });
});

describe('choosing a table', () => {
  it('shows it instead, and leaves one subscription', async () => {
    await mount();
    await enter('sesame');
    await welcomed();
    find('table-account')?.click();
    await fixture.whenStable();
    expect(find('grid')?.dataset['table']).toBe('account');
    expect(world.socket.last('open').table).toBe('account');
    expect(world.socket.heard('open').length - world.socket.heard('close').length).toBe(1);
  });

  it('falls to the first one where there is no users_ui', async () => {
    ask.mockImplementation(() => answering(200, { tables: [table('orders')], aliases: {} }));
    await mount();
    await enter('sesame');
    await welcomed();
    expect(find('grid')?.dataset['table']).toBe('orders');
  });

  it('asks a server that is still filling its tables once it has filled them', async () => {
    await mount();
    await enter('sesame');
    world.socket.accept();
    world.socket.say(welcome());
    world.socket.say(feed('filling', 'Not yet.'));
    await fixture.whenStable();
    expect([text('state'), text('reason'), ask.mock.calls.length]).toEqual(['stale', expect.stringContaining('Not yet.'), 0]);
    world.socket.say(feed('live'));
    await fixture.whenStable();
    expect([find('problem'), find('table-account') === null, ask.mock.calls.length]).toEqual([null, false, 1]);
  });

  it('says what is wrong with the list, and reads it again on demand', async () => {
    ask.mockImplementationOnce(() => answering(503, { error: { code: 'not_ready', message: 'Not yet.', hint: 'Wait.' } }));
    await mount();
    await enter('sesame');
    await welcomed();
    expect(text('problem')).toContain('Not yet. Wait.');
    find('problem')?.querySelector('button')?.click();
    await fixture.whenStable();
    expect([find('problem'), find('table-account') === null]).toEqual([null, false]);
  });
});

it('logging out closes the connection and forgets the key', async () => {
  await mount();
  await enter('sesame');
  await welcomed();
  find('leave')?.click();
  await fixture.whenStable();
  world.advance(0);
  expect([find('login') === null, find('state'), sessionStorage.length]).toEqual([false, null, 0]);
  expect(world.sockets.every((socket) => socket.closed && socket.listeners.size === 0)).toBe(true);
  expect([world.timers.size, world.wakers.size]).toEqual([0, 0]);
});
