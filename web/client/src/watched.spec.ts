import { expect, it, vi } from 'vitest';
import { Watched } from './watched.ts';

it('tells each watcher of a change, once', () => {
  const watched = new Watched(1);
  const seen: number[] = [];
  watched.watch((value) => seen.push(value));
  watched.set(2);
  watched.set(2);
  watched.set(3);
  expect(seen).toEqual([2, 3]);
});

it('tells nothing to a watcher that stopped, and forgets it', () => {
  const watched = new Watched(1);
  const watcher = vi.fn();
  const stop = watched.watch(watcher);
  stop();
  watched.set(2);
  expect(watcher).not.toHaveBeenCalled();
  expect(watched.watchers).toBe(0);
});

it('keeps telling the others when one watcher throws', () => {
  const outside: (() => void)[] = [];
  vi.stubGlobal('queueMicrotask', (task: () => void) => outside.push(task));
  const watched = new Watched(1);
  const seen: number[] = [];
  watched.watch(() => {
    throw new Error('my own fault');
  });
  watched.watch((value) => seen.push(value));
  watched.set(2);
  expect(seen).toEqual([2]);
  expect(outside[0]).toThrow('my own fault');
});
