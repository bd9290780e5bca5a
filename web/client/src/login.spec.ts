import { beforeEach, describe, expect, it, vi } from 'vitest';
import { errorMessage, FakeWorld } from '../testing/index.ts';
import { readCatalogue } from './catalogue.ts';
import { TableHub } from './hub.ts';

let world: FakeWorld;
let keys: string[];
let ask: () => string | Promise<string>;

/** Lets promises that are settled be heard. */
const soon = async (): Promise<void> => { await new Promise((resolve) => { setTimeout(resolve); }); };
const hubWith = (key: string | (() => string | Promise<string>)): TableHub => new TableHub({ url: 'http://localhost:10000', key }, world.environment);

beforeEach(() => {
  world = new FakeWorld();
  keys = ['first', 'second', 'third'];
  ask = vi.fn(() => keys.shift() ?? '');
});

describe('a function for a key', () => {
  it('is asked at each login, and never in between', async () => {
    const hub = hubWith(ask);
    expect(world.sockets.length).toBe(0);
    await soon();
    world.socket.welcome();
    expect(world.socket.last('login').key).toBe('first');
    world.socket.drop();
    world.advance(150);
    await soon();
    world.socket.welcome();
    expect(world.socket.last('login').key).toBe('second');
    expect([hub.connection.value.phase, vi.mocked(ask).mock.calls.length]).toEqual(['live', 2]);
  });

  it('may take its time, and is not waited for when the hub is closed', async () => {
    let give: (key: string) => void = () => undefined;
    const hub = hubWith(() => new Promise((resolve) => { give = resolve; }));
    await soon();
    expect([hub.connection.value.phase, world.sockets.length]).toEqual(['connecting', 0]);
    await hub.close();
    give('late');
    await soon();
    expect([world.sockets.length, world.timers.size, world.wakers.size]).toEqual([0, 0, 0]);
  });

  it('that fails or never answers is asked again', async () => {
    const hub = hubWith(vi.fn().mockRejectedValueOnce(new Error('The provider is away.')).mockReturnValueOnce(new Promise(() => undefined)).mockReturnValue('third'));
    await soon();
    expect(hub.connection.value).toMatchObject({ phase: 'reconnecting', problem: { message: 'The provider is away.' } });
    world.advance(150);
    await soon();
    world.advance(30_000);
    expect(hub.connection.value).toMatchObject({ phase: 'reconnecting', problem: { code: 'no_key' } });
    world.advance(1_000);
    await soon();
    world.socket.welcome();
    expect(hub.connection.value.phase).toBe('live');
  });

  it('is asked again when a login that was good is over, and the tables stay', async () => {
    const hub = hubWith(ask);
    await soon();
    world.socket.welcome();
    hub.open({ table: 'users_ui' });
    world.socket.say(errorMessage('token_expired'));
    expect(hub.connection.value).toMatchObject({ phase: 'reconnecting', problem: { code: 'token_expired' } });
    world.advance(150);
    await soon();
    world.socket.welcome();
    expect([world.socket.last('login').key, world.socket.last('open').table, hub.connection.value.phase]).toEqual(['second', 'users_ui', 'live']);
  });

  it('that gives an expired token at once is not asked for ever', async () => {
    const hub = hubWith(ask);
    await soon();
    world.socket.accept();
    world.socket.say(errorMessage('token_expired'));
    world.advance(60_000);
    await soon();
    expect([hub.connection.value.phase, vi.mocked(ask).mock.calls.length]).toEqual(['refused', 1]);
  });

  it('that has no further key leaves it at what was wrong with the last one', async () => {
    keys = ['first'];
    const hub = hubWith(ask);
    await soon();
    world.socket.welcome();
    world.socket.drop(4419);
    world.advance(150);
    await soon();
    expect(hub.connection.value.phase).toBe('refused');
    expect([world.sockets.length, world.timers.size, world.wakers.size]).toEqual([1, 0, 0]);
    const without = hubWith(() => '');
    await soon();
    expect(without.connection.value).toMatchObject({ phase: 'refused', problem: { code: 'missing_key' } });
  });

  it('gives the key of the present login to questions over HTTP', async () => {
    const fetched = vi.fn<typeof fetch>(() => Promise.resolve(new Response('{"tables":[]}')));
    vi.stubGlobal('fetch', fetched);
    const hub = hubWith(ask);
    await soon();
    world.socket.welcome();
    await readCatalogue(hub.access);
    await hub.progress();
    expect(fetched.mock.calls.map(([, options]) => options?.headers)).toEqual([{ Authorization: 'Bearer first' }, { Authorization: 'Bearer first' }]);
    expect(vi.mocked(ask).mock.calls.length).toBe(1);
    vi.unstubAllGlobals();
  });
});

describe('the end of a login', () => {
  it.each([
    ['token_expired', 4419],
    ['key_withdrawn', 4401],
    ['bad_token', 4401],
    ['no_role', 4403],
  ])('by %s is final where the key is what it is', (code, closed) => {
    const hub = hubWith('sesame');
    world.socket.welcome();
    world.socket.say(errorMessage(code));
    world.socket.drop(closed);
    world.advance(60_000);
    expect(hub.connection.value).toMatchObject({ phase: 'refused', problem: { code } });
    expect([world.sockets.length, world.timers.size]).toEqual([1, 0]);
  });

  it('by too many wrong keys is waited out as long as the server says', () => {
    const hub = hubWith('sesame');
    world.socket.accept();
    world.socket.say(errorMessage('too_many_logins', undefined, 4));
    world.socket.drop(4429);
    expect(hub.connection.value).toMatchObject({ phase: 'reconnecting', problem: { code: 'too_many_logins' } });
    world.advance(3_900);
    expect(world.sockets.length).toBe(1);
    world.advance(100);
    expect(world.sockets.length).toBe(2);
  });

  it('by a provider that is away is tried again', () => {
    const hub = hubWith('sesame');
    world.socket.accept();
    world.socket.say(errorMessage('login_unavailable'));
    world.socket.drop(4503);
    world.advance(150);
    world.socket.welcome();
    expect(hub.connection.value.phase).toBe('live');
  });
});

describe('the role', () => {
  it('is told by the server, and may be another at the next login', () => {
    const hub = hubWith('sesame');
    const told: string[] = [];
    hub.role.watch((role) => told.push(role));
    world.socket.welcome('viewer');
    expect(hub.role.value).toBe('viewer');
    world.socket.drop();
    expect(hub.role.value).toBe('viewer');
    world.advance(150);
    world.socket.welcome('operator');
    expect(told).toEqual(['viewer', 'operator']);
  });

  it('is an operator’s where an older server does not tell it', () => {
    const hub = hubWith('sesame');
    world.socket.accept();
    world.socket.sayText('{"type":"welcome","protocol":"tablecast.v1","server":"0.1.0","limits":{"windowRows":1,"subscriptions":1,"messageBytes":1}}');
    expect(hub.role.value).toBe('operator');
  });
});
