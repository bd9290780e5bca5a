import { afterEach, expect, it } from 'vitest';
import { ViewerStorage } from './viewer-storage.ts';

afterEach(() => {
  localStorage.clear();
});

it('keeps, reads and forgets', () => {
  const storage = new ViewerStorage(() => localStorage);
  storage.keep('theme', 'dark');
  expect([storage.read('theme'), storage.read('other')]).toEqual(['dark', null]);
  storage.forget('theme');
  expect(storage.read('theme')).toBeNull();
});

it('keeps nothing where the browser refuses to be asked, and bears it', () => {
  const storage = new ViewerStorage(() => {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  });
  storage.keep('theme', 'dark');
  storage.forget('theme');
  expect([storage.read('theme'), new ViewerStorage(() => undefined).read('theme')]).toEqual([null, null]);
});
