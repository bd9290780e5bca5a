import { expect, it, vi } from 'vitest';
import { hostEnvironment } from './environment.ts';

it('runs a timer once, or not at all when it is cancelled', () => {
  vi.useFakeTimers();
  const [kept, cancelled] = [vi.fn(), vi.fn()];
  const environment = hostEnvironment();
  environment.after(10, kept);
  environment.after(10, cancelled)();
  vi.advanceTimersByTime(50);
  vi.useRealTimers();
  expect(kept).toHaveBeenCalledOnce();
  expect(cancelled).not.toHaveBeenCalled();
});

it('never wakes where there is no page', () => {
  const wake = vi.fn();
  hostEnvironment().onWake(wake)();
  hostEnvironment().onAway(wake)();
  expect(wake).not.toHaveBeenCalled();
});

it('wakes when the network comes back or the tab is seen, until it is ended', () => {
  const page = Object.assign(new EventTarget(), { visibilityState: 'hidden' });
  const browser = new EventTarget();
  vi.stubGlobal('document', page);
  vi.stubGlobal('addEventListener', browser.addEventListener.bind(browser));
  vi.stubGlobal('removeEventListener', browser.removeEventListener.bind(browser));
  const wake = vi.fn();
  const end = hostEnvironment().onWake(wake);
  browser.dispatchEvent(new Event('online'));
  page.dispatchEvent(new Event('visibilitychange'));
  expect(wake).toHaveBeenCalledTimes(1);
  page.visibilityState = 'visible';
  page.dispatchEvent(new Event('visibilitychange'));
  expect(wake).toHaveBeenCalledTimes(2);
  end();
  browser.dispatchEvent(new Event('online'));
  page.dispatchEvent(new Event('visibilitychange'));
  expect(wake).toHaveBeenCalledTimes(2);
});

it('hears that the network goes, until it is ended', () => {
  const browser = new EventTarget();
  vi.stubGlobal('document', new EventTarget());
  vi.stubGlobal('addEventListener', browser.addEventListener.bind(browser));
  vi.stubGlobal('removeEventListener', browser.removeEventListener.bind(browser));
  const away = vi.fn();
  const end = hostEnvironment().onAway(away);
  browser.dispatchEvent(new Event('offline'));
  end();
  browser.dispatchEvent(new Event('offline'));
  expect(away).toHaveBeenCalledOnce();
});
