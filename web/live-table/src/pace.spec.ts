import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pace } from './pace.ts';

let frames: ((now: number) => void)[];
const paint = (now: number) => { for (const frame of frames.splice(0)) frame(now); };

beforeEach(() => {
  frames = [];
  vi.stubGlobal('requestAnimationFrame', (frame: (now: number) => void) => frames.push(frame));
  vi.stubGlobal('cancelAnimationFrame', () => undefined);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('does the newest with the next frame when it was quiet, and asks for no frame between two when it is not', () => {
  const [done, asked] = [vi.fn(), vi.fn()];
  const pace = new Pace(asked);
  for (const [now, task] of [[1000, 'a'], [1016, 'b'], [1033, 'c'], [2000, 'd']] as const) {
    vi.advanceTimersByTime(now - performance.now());
    pace.next(() => { done('stale'); });
    pace.next(() => { done(now, task); });
    paint(now);
  }
  expect(done.mock.calls).toEqual([[1000, 'a'], [1033, 'c'], [2000, 'd']]);
  expect(asked).toHaveBeenCalledTimes(3);
});

it('does nothing more once it is cancelled, and the newest once a second where no frame comes', () => {
  const done = vi.fn();
  const pace = new Pace();
  pace.next(() => { done('cancelled'); });
  pace.cancel();
  paint(1000);
  for (let row = 0; row < 300; row += 1) {
    pace.next(() => { done(row); });
    vi.advanceTimersByTime(10);
  }
  expect(done.mock.calls).toEqual([[99], [199], [299]]);
});
