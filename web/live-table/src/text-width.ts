/** Of the letters of the grid, in those of the page: `font-size` in live-table.css. */
const SIZE_REM = 0.8125;
const USUAL_REM_PX = 16;
const CHARACTER_PX = 6.9;

export type TextWidth = (text: string) => number;

/** Tells how wide a text is, in pixels, in the letters of the grid; where nothing can be drawn, about how wide. */
export function textWidth(document: Document): TextWidth {
  const { body, documentElement, defaultView: view } = document;
  const context = typeof OffscreenCanvas === 'undefined' ? null : new OffscreenCanvas(1, 1).getContext('2d');
  const family = view?.getComputedStyle(body).fontFamily ?? '';
  if (view === null || context === null || family === '') return about;
  const rem = Number.parseFloat(view.getComputedStyle(documentElement).fontSize) || USUAL_REM_PX;
  context.font = `${String(rem * SIZE_REM)}px ${family}`;
  return (text) => context.measureText(text).width;
}

export function about(text: string): number {
  return text.length * CHARACTER_PX;
}
