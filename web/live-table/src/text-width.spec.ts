import { afterEach, expect, it, vi } from 'vitest';
import { about, textWidth } from './text-width.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  document.body.style.fontFamily = '';
});

it('is measured in the letters of the page', () => {
  const context = { font: '', measureText: (text: string) => ({ width: 10 * text.length }) };
  vi.stubGlobal('OffscreenCanvas', class { getContext = () => context; });
  document.body.style.fontFamily = 'Wide';
  expect(textWidth(document)('abc')).toBe(30);
  expect(context.font).toBe('13px Wide');
});

it('is estimated where nothing can be drawn', () => {
  expect(textWidth(document)('abc')).toBe(about('abc'));
});
