import { errorMessage } from '@tablecast/client/testing';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { leave, Visit } from './testing/visit.ts';

let visit: Visit;
let asked: unknown[];
/** The page around this one. */
const portal = { postMessage: (message: unknown) => { asked.push(message); } };

const answer = async (data: unknown, source: unknown = portal): Promise<void> => {
  const event = new MessageEvent('message', { data });
  Object.defineProperty(event, 'source', { value: source });
  window.dispatchEvent(event);
  await visit.settle();
};

const token = (text: string) => ({ type: 'tablecast.token', token: text });

beforeEach(() => {
  asked = [];
  visit = new Visit();
  vi.spyOn(window, 'parent', 'get').mockReturnValue(portal as unknown as Window);
});

afterEach(() => {
  vi.restoreAllMocks();
  leave();
});

it('gives the token to log in with, and is asked for the next when that has expired', async () => {
  await visit.mount();
  expect([asked, visit.find('login') !== null]).toEqual([[{ type: 'tablecast.token' }], true]);
  await answer(token('first'));
  await visit.welcomed();
  expect([visit.world.socket.last('login').key, visit.text('state')]).toEqual(['first', 'live']);
  visit.world.socket.say(errorMessage('token_expired'));
  await visit.advance(150);
  expect(asked.length).toBe(2);
  await answer(token('second'));
  await visit.welcomed();
  expect([visit.world.socket.last('login').key, visit.text('state'), visit.find('login'), visit.find('problem')]).toEqual(['second', 'live', null, null]);
});

it('that gives nothing more leaves the login, with a calm word', async () => {
  await visit.mount();
  await answer(token('first'));
  await visit.welcomed();
  visit.world.socket.say(errorMessage('token_expired'));
  await visit.advance(150);
  await visit.advance(5_000);
  expect([visit.find('login') !== null, visit.text('problem')]).toEqual([true, 'The server says token_expired. Do the other thing.']);
  expect(document.querySelector('h2')?.textContent).toBe('Your login has expired');
});

it('is asked before the token that this tab was last let in with is tried again', async () => {
  sessionStorage.setItem('tablecast.access', JSON.stringify({ url: location.origin, key: 'old' }));
  await visit.mount();
  expect(visit.world.sockets.length).toBe(0);
  await answer(token('new'));
  await visit.welcomed();
  await visit.advance(1_000);
  expect(visit.world.sockets.map((socket) => socket.last('login').key)).toEqual(['new']);
});

it('that gives none lets the tab in with what it was last let in with', async () => {
  sessionStorage.setItem('tablecast.access', JSON.stringify({ url: location.origin, key: 'old' }));
  await visit.mount();
  await visit.advance(1_000);
  await visit.welcomed();
  await visit.advance(4_000);
  expect([visit.world.sockets.length, visit.world.socket.last('login').key, visit.text('state')]).toEqual([1, 'old', 'live']);
});

it('is not believed when another speaks, or when it says something else', async () => {
  await visit.mount();
  await answer(token('evil'), window);
  await answer({ type: 'tablecast.token', token: 7 });
  await answer({ type: 'other', token: 'x' });
  await answer(null);
  expect(visit.world.sockets.length).toBe(0);
  await visit.advance(5_000);
  await answer(token('late'));
  expect([visit.world.sockets.length, visit.find('login') !== null]).toEqual([0, true]);
});

it('does not stand in the way of a key that somebody typed', async () => {
  await visit.mount();
  await visit.submit('sesame');
  await answer(token('first'));
  await visit.welcomed();
  expect([visit.world.sockets.length, visit.world.socket.last('login').key]).toEqual([1, 'sesame']);
});
