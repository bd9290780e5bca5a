import { TestBed } from '@angular/core/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { PLAIN_LAYOUT, withPinned, withWidth } from './column-layout.ts';
import { LayoutStore } from './layout-store.ts';

const store = () => TestBed.inject(LayoutStore);

afterEach(() => {
  localStorage.clear();
  vi.restoreAllMocks();
});

it('keeps a layout for each name', () => {
  const layout = withWidth(withPinned(PLAIN_LAYOUT, 'a', true), 'b', 120);
  store().keep('mine', layout);
  expect(store().read('mine')).toEqual(layout);
  expect(store().read('yours')).toEqual(PLAIN_LAYOUT);
});

it.each(['not JSON', '7', '[]', '{"order":"a","hidden":[1],"widths":{"a":"wide"}}'])('takes nothing from a stored %s', (stored) => {
  localStorage.setItem('mine', stored);
  expect(store().read('mine')).toEqual(PLAIN_LAYOUT);
});

it('bears a storage that is full', () => {
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new Error('QuotaExceededError');
  });
  expect(() => { store().keep('mine', PLAIN_LAYOUT); }).not.toThrow();
});
