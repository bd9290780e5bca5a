/** What a key means in the grid. */
export type GridKey =
  | { readonly does: 'go'; readonly rows: number; readonly columns: number; readonly extends: boolean }
  | { readonly does: 'details' | 'select' | 'escape' | 'search' | 'menu' };

/** The part of a keyboard event that is looked at. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

const FAR = Number.POSITIVE_INFINITY;
const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -FAR],
  End: [0, FAR],
};
const FAR_STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-FAR, 0],
  ArrowDown: [FAR, 0],
  ArrowLeft: [0, -FAR],
  ArrowRight: [0, FAR],
  Home: [-FAR, -FAR],
  End: [FAR, FAR],
};
const PAGES: Readonly<Record<string, (page: number) => readonly [number, number]>> = {
  PageUp: (page) => [-page, 0],
  PageDown: (page) => [page, 0],
};
const DEEDS: Readonly<Record<string, Exclude<GridKey['does'], 'go'>>> = {
  Enter: 'details',
  ' ': 'select',
  Escape: 'escape',
  '/': 'search',
  ContextMenu: 'menu',
};

/** Null where the key means nothing here and belongs to the browser. */
export function gridKey(press: KeyPress, page: number): GridKey | null {
  const far = press.ctrlKey || press.metaKey;
  if (press.altKey) return press.key === 'ArrowDown' && !press.shiftKey ? { does: 'menu' } : null;
  const step = PAGES[press.key]?.(page) ?? (far ? FAR_STEPS : STEPS)[press.key];
  if (step !== undefined) return { does: 'go', rows: step[0], columns: step[1], extends: press.shiftKey };
  const deed = far ? undefined : DEEDS[press.key];
  return deed === undefined ? null : { does: deed };
}
