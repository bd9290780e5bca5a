import { expect, it } from 'vitest';
import { commandOf, SHORTCUTS } from './shortcuts.ts';

const press = (code: string, held: KeyboardEventInit = { altKey: true, shiftKey: true }) => commandOf(new KeyboardEvent('keydown', { code, ...held }));

it('answers to its keys with Alt and Shift, and to none alone', () => {
  for (const { code, command } of SHORTCUTS) {
    expect(press(code)).toBe(command);
    expect([press(code, {}), press(code, { shiftKey: true }), press(code, { altKey: true })]).toEqual([null, null, null]);
    expect(press(code, { altKey: true, shiftKey: true, ctrlKey: true })).toBeNull();
  }
  expect(press('KeyQ')).toBeNull();
});

it('leaves the keys to a field that somebody writes in', () => {
  const heard = (field: HTMLElement): unknown => {
    let command: unknown = 'nothing';
    field.addEventListener('keydown', (event) => { command = commandOf(event); });
    field.dispatchEvent(new KeyboardEvent('keydown', { code: 'KeyX', altKey: true, shiftKey: true }));
    return command;
  };
  const input = (type: string) => Object.assign(document.createElement('input'), { type });
  expect([heard(input('search')), heard(input('text')), heard(document.createElement('textarea'))]).toEqual([null, null, null]);
  expect([heard(input('radio')), heard(document.createElement('button'))]).toEqual(['close', 'close']);
});

it('has one command a key and one key a command', () => {
  expect(new Set(SHORTCUTS.map(({ code }) => code)).size).toBe(SHORTCUTS.length);
  expect(new Set(SHORTCUTS.map(({ command }) => command)).size).toBe(SHORTCUTS.length);
});
