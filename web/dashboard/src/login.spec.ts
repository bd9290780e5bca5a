import { TestBed } from '@angular/core/testing';
import { errorMessage } from '@tablecast/client/testing';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { leave, Visit } from './testing/visit.ts';

let visit: Visit;

beforeEach(() => {
  visit = new Visit();
});

afterEach(leave);

it('shows the form alone, with this page’s own server', async () => {
  await visit.mount();
  expect(visit.field('url').value).toBe(location.origin);
  expect([visit.find('state'), visit.find('panel'), visit.find('leave')]).toEqual([null, null, null]);
  expect(visit.world.sockets.length).toBe(0);
  expect(visit.ask).not.toHaveBeenCalled();
});

it('goes to the tables when the server takes the key', async () => {
  await visit.mount();
  await visit.submit('sesame');
  expect(visit.text('state')).toBe('connecting');
  expect(visit.find('login')).not.toBeNull();
  await visit.welcomed();
  expect(visit.text('state')).toBe('live');
  expect(visit.find('login')).toBeNull();
  expect(visit.find('table-users_ui')?.getAttribute('aria-current')).toBe('true');
  expect(visit.text('table-users_ui')).toBe('users_ui user');
  expect(visit.ask.mock.calls.every(([, { headers }]) => (headers as Record<string, string>)['Authorization'] === 'Bearer sesame')).toBe(true);
});

it('without a key says so at once, and asks nobody', async () => {
  await visit.mount();
  await visit.submit('  ');
  expect(visit.text('problem')).toContain('There is no key.');
  expect(visit.world.sockets.length).toBe(0);
});

it.each(['no JSON', 'null', '7', '{"url":7,"key":["k"]}'])('where the tab kept %j asks for the key anew', async (kept) => {
  sessionStorage.setItem('tablecast.access', kept);
  await visit.mount();
  expect([visit.find('login') !== null, visit.world.sockets.length]).toEqual([true, 0]);
});

it('with a wrong key says so once, forgets it, and lets another be tried', async () => {
  await visit.mount();
  const drawing = () => visit.find('login')?.querySelector('path')?.getAttribute('d');
  const door = drawing();
  await visit.submit('wrong');
  visit.world.socket.accept();
  visit.world.socket.say(errorMessage('wrong_key'));
  await visit.settle();
  expect([visit.text('state'), visit.text('problem'), visit.find('reason'), visit.find('away')]).toEqual([
    'refused',
    'The server says wrong_key. Do the other thing.',
    null,
    null,
  ]);
  expect([sessionStorage.length, visit.ask.mock.calls.length]).toEqual([0, 0]);
  expect(drawing()).not.toBe(door);
  await visit.submit('sesame');
  await visit.welcomed();
  expect([visit.text('state'), visit.find('problem')]).toEqual(['live', null]);
});

it('that has expired shows the way in again, and forgets the token', async () => {
  await visit.enter('a.b.c');
  visit.world.socket.say(errorMessage('token_expired'));
  await visit.settle();
  expect([visit.find('login') !== null, visit.text('problem'), sessionStorage.length]).toEqual([true, 'The server says token_expired. Do the other thing.', 0]);
  expect(document.querySelector('h2')?.textContent).toBe('Your login has expired');
  await visit.submit('sesame');
  await visit.welcomed();
  expect(visit.text('state')).toBe('live');
});

it('of a server that is away says so, and goes in by itself when it comes back', async () => {
  await visit.mount();
  await visit.submit('sesame');
  visit.world.socket.drop();
  await visit.settle();
  expect([visit.text('state'), visit.find('problem')]).toEqual(['reconnecting', null]);
  expect(visit.text('away')).toContain('keeps trying');
  await visit.advance(200);
  await visit.welcomed();
  expect([visit.find('login'), visit.text('state')]).toEqual([null, 'live']);
});

it('of a server that this page may not talk to says so', async () => {
  await visit.mount();
  await visit.submit('sesame');
  visit.world.socket.drop();
  document.dispatchEvent(Object.assign(new Event('securitypolicyviolation'), { blockedURI: 'ws://elsewhere:10000/ws' }));
  await visit.settle();
  expect(visit.text('away')).toContain('not to ws://elsewhere:10000/ws');
  expect(visit.text('away')).not.toContain('keeps trying');
});

it('by the fragment goes straight in, and takes the key out of the address bar', async () => {
  history.replaceState(null, '', '/?a=b#key=open%20sesame&rest');
  await visit.mount();
  visit.world.socket.accept();
  expect(visit.world.socket.sent).toEqual([{ type: 'login', key: 'open sesame' }]);
  expect(location.href).toBe(`${location.origin}/?a=b#rest`);
});

it('by a fragment that is typed into the open page works too', async () => {
  await visit.mount();
  history.replaceState(null, '', '#key=50%');
  window.dispatchEvent(new Event('hashchange'));
  visit.world.socket.accept();
  expect(visit.world.socket.last('login').key).toBe('50%');
  expect(location.hash).toBe('');
});

it('is remembered by this tab alone', async () => {
  await visit.enter();
  expect([sessionStorage.length, localStorage.length, document.cookie]).toEqual([1, 0, '']);
  TestBed.resetTestingModule();
  expect(visit.world.socket.closed).toBe(true);
  visit.provide();
  await visit.mount();
  await visit.welcomed();
  expect(visit.text('state')).toBe('live');
});

it('works where the browser keeps nothing, or what it kept is no use', async () => {
  for (const storage of ['localStorage', 'sessionStorage'] as const) {
    vi.spyOn(window, storage, 'get').mockImplementation(() => {
      throw new DOMException('The operation is insecure.', 'SecurityError');
    });
  }
  await visit.enter();
  await visit.press('KeyB');
  await visit.press('KeyT');
  expect([visit.text('state'), visit.shown().length]).toEqual(['live', 3]);
  await visit.click('leave');
  expect(visit.find('login')).not.toBeNull();
  vi.restoreAllMocks();
});

it('is not done again when another part of the address changes', async () => {
  await visit.enter();
  history.replaceState(null, '', '#elsewhere');
  window.dispatchEvent(new Event('hashchange'));
  await visit.settle();
  expect(visit.world.sockets.length).toBe(1);
});

it('logging out closes the connection, forgets the key and leaves no timer', async () => {
  await visit.enter();
  await visit.click('leave');
  visit.world.advance(0);
  expect([visit.find('login') === null, visit.find('state'), sessionStorage.length]).toEqual([false, null, 0]);
  expect(visit.world.sockets.every((socket) => socket.closed && socket.listeners.size === 0)).toBe(true);
  expect([visit.world.timers.size, visit.world.wakers.size]).toEqual([0, 0]);
});
