/** What a key can do. Each has Alt and Shift with it, so that no key alone does anything and none of the browser's own is taken. */
export type Command =
  | 'left' | 'right' | 'up' | 'down'
  | 'split-right' | 'split-below' | 'close' | 'solo'
  | 'next' | 'previous' | 'charts' | 'operator' | 'theme' | 'help';

interface Shortcut {
  readonly code: string;
  readonly command: Command;
  readonly keys: readonly string[];
  readonly does: string;
}

const HELD = ['Alt', 'Shift'];

export const SHORTCUTS: readonly Shortcut[] = [
  { code: 'KeyN', command: 'next', keys: [...HELD, 'N'], does: 'go to the next panel' },
  { code: 'KeyP', command: 'previous', keys: [...HELD, 'P'], does: 'go to the panel before' },
  { code: 'Enter', command: 'solo', keys: [...HELD, 'Enter'], does: 'show this panel alone, or all again' },
  { code: 'KeyR', command: 'split-right', keys: [...HELD, 'R'], does: 'split this panel, the new one right of it' },
  { code: 'KeyB', command: 'split-below', keys: [...HELD, 'B'], does: 'split this panel, the new one below it' },
  { code: 'ArrowLeft', command: 'left', keys: [...HELD, '←'], does: 'move this panel left' },
  { code: 'ArrowRight', command: 'right', keys: [...HELD, '→'], does: 'move this panel right' },
  { code: 'ArrowUp', command: 'up', keys: [...HELD, '↑'], does: 'move this panel up' },
  { code: 'ArrowDown', command: 'down', keys: [...HELD, '↓'], does: 'move this panel down' },
  { code: 'KeyX', command: 'close', keys: [...HELD, 'X'], does: 'close this panel' },
  { code: 'KeyO', command: 'operator', keys: [...HELD, 'O'], does: 'open the operator panel' },
  { code: 'KeyC', command: 'charts', keys: [...HELD, 'C'], does: 'open the charts' },
  { code: 'KeyT', command: 'theme', keys: [...HELD, 'T'], does: 'next theme: system, light, dark' },
  { code: 'KeyH', command: 'help', keys: [...HELD, 'H'], does: 'show this list' },
];

/** What a table does by itself while one of its cells has the focus. */
export const GRID_KEYS: readonly Pick<Shortcut, 'keys' | 'does'>[] = [
  { keys: ['←', '→', '↑', '↓'], does: 'go to the next cell; with Ctrl, to the last one of that way' },
  { keys: ['Page Up', 'Page Down'], does: 'go on by a page' },
  { keys: ['Home', 'End'], does: 'go to the first or the last column; with Ctrl, of the first or the last row' },
  { keys: ['Shift'], does: 'with any of these, choose the cells on the way' },
  { keys: ['Ctrl', 'C'], does: 'copy the chosen cells' },
  { keys: ['Enter'], does: 'show the row in full' },
  { keys: ['Space'], does: 'select the row, or no longer' },
  { keys: ['Alt', '↓'], does: 'open the options of the column' },
  { keys: ['/'], does: 'go to the search' },
  { keys: ['Esc'], does: 'choose only the one cell again' },
];

/** Where somebody writes, these keys write or select: on a Mac each of them is a letter. */
const WRITTEN_IN = 'textarea, input:not([type=checkbox], [type=radio])';

/** The command of a key press; null if it is none. */
export function commandOf({ code, altKey, shiftKey, ctrlKey, metaKey, target }: KeyboardEvent): Command | null {
  if (!altKey || !shiftKey || ctrlKey || metaKey) return null;
  if (target instanceof Element && target.matches(WRITTEN_IN)) return null;
  return SHORTCUTS.find((shortcut) => shortcut.code === code)?.command ?? null;
}
