import { expect, it } from 'vitest';
import { gridKey } from './grid-keys.ts';

const press = (key: string, held: Partial<Record<'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey', boolean>> = {}) =>
  gridKey({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...held }, 20);

it.each([
  ['ArrowDown', {}, 1, 0, false],
  ['ArrowLeft', { shiftKey: true }, 0, -1, true],
  ['PageDown', {}, 20, 0, false],
  ['PageUp', { shiftKey: true }, -20, 0, true],
  ['Home', {}, 0, -Infinity, false],
  ['End', { ctrlKey: true }, Infinity, Infinity, false],
  ['ArrowUp', { metaKey: true }, -Infinity, 0, false],
] as const)('%s with %j goes', (key, held, rows, columns, extending) => {
  expect(press(key, held)).toEqual({ does: 'go', rows, columns, extends: extending });
});

it.each([
  ['Enter', {}, 'details'],
  [' ', {}, 'select'],
  ['Escape', {}, 'escape'],
  ['/', {}, 'search'],
  ['ArrowDown', { altKey: true }, 'menu'],
] as const)('%s with %j means %s', (key, held, does) => {
  expect(press(key, held)).toEqual({ does });
});

it.each([
  ['c', {}],
  ['c', { ctrlKey: true }],
  ['f', { ctrlKey: true }],
  ['Tab', {}],
  ['ArrowUp', { altKey: true }],
  ['ArrowDown', { altKey: true, shiftKey: true }],
  ['Enter', { ctrlKey: true }],
] as const)('%s with %j belongs to the browser', (key, held) => {
  expect(press(key, held)).toBeNull();
});
