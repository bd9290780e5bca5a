import type { PanelView } from './panel-view.ts';
import { PLAIN, readView } from './panel-view.ts';

/** One panel of the page: what it shows, and how. `share` is its part of the column's height. */
export interface Panel {
  readonly id: number;
  readonly shows: string;
  readonly view: PanelView;
  readonly share: number;
}

/** Panels above each other. `share` is its part of the page's width. */
export interface Column {
  readonly share: number;
  readonly panels: readonly Panel[];
}

/** Columns side by side. There is always one panel at least; the shares of a row or column add up to one. */
export type Layout = readonly Column[];

export type Direction = 'left' | 'right' | 'up' | 'down';
export type Growth = 'wider' | 'narrower' | 'taller' | 'shorter';

/** Where a panel stands, in percent of the page. */
export interface Box {
  readonly panel: Panel;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const MOST_PANELS = 12;

export function panelsOf(layout: Layout): readonly Panel[] {
  return layout.flatMap(({ panels }) => panels);
}

/** A layout of these columns of names, all of equal shares. */
export function layoutOf(columns: readonly (readonly string[])[]): Layout {
  let id = 0;
  return columns
    .filter((names) => names.length > 0)
    .map((names) => column(names.map((shows) => ({ id: ++id, shows, view: PLAIN, share: 1 / names.length }))))
    .map((made, _, all) => ({ ...made, share: 1 / all.length }));
}

export function changed(layout: Layout, id: number, change: Partial<Panel>): Layout {
  return layout.map((each) => ({ ...each, panels: each.panels.map((panel) => (panel.id === id ? { ...panel, ...change } : panel)) }));
}

/** The last panel stays. */
export function closed(layout: Layout, id: number): Layout {
  if (panelsOf(layout).length === 1) return layout;
  return evened(layout.map((each) => withPanels(each, each.panels.filter((panel) => panel.id !== id))));
}

/** A panel like this one beside it, half as large as it was. The new one has the largest id. */
export function split(layout: Layout, id: number, where: 'right' | 'below'): Layout {
  const all = panelsOf(layout);
  const found = all.find((panel) => panel.id === id);
  if (found === undefined || all.length >= MOST_PANELS) return layout;
  const copy = { ...found, id: newestId(layout) + 1 };
  return where === 'below' ? layout.map((each) => below(each, id, copy)) : layout.flatMap((each) => beside(each, id, copy));
}

/** Up and down change places within a column; left and right go to the next column, or to a new one at the edge. */
export function moved(layout: Layout, id: number, direction: Direction): Layout {
  const from = layout.findIndex(({ panels }) => panels.some((panel) => panel.id === id));
  const source = layout[from];
  const index = source?.panels.findIndex((panel) => panel.id === id) ?? -1;
  const panel = source?.panels[index];
  if (source === undefined || panel === undefined) return layout;
  const step = direction === 'left' || direction === 'up' ? -1 : 1;
  if (direction === 'up' || direction === 'down') {
    return layout.map((each) => (each === source ? { ...each, panels: swapped(each.panels, index, index + step) } : each));
  }
  return sideways(layout, from, panel, step);
}

/** Each of the two where the other was, as large as that one. */
export function exchanged(layout: Layout, id: number, other: number): Layout {
  const [one, two] = [id, other].map((each) => panelsOf(layout).find((panel) => panel.id === each));
  if (one === undefined || two === undefined || one === two) return layout;
  const there = (panel: Panel): Panel => (panel === one ? { ...two, share: one.share } : panel === two ? { ...one, share: two.share } : panel);
  return layout.map((each) => ({ ...each, panels: each.panels.map(there) }));
}

/** Moves the edge behind column `index` to `at`, a part of the page's width. */
export function columnsResized(layout: Layout, index: number, at: number): Layout {
  return resized(layout, index, at);
}

/** Moves the edge under panel `index` of a column to `at`, a part of the page's height. */
export function rowsResized(layout: Layout, columnIndex: number, index: number, at: number): Layout {
  return layout.map((each, number) => (number === columnIndex ? { ...each, panels: resized(each.panels, index, at) } : each));
}

/** The panel a step larger or smaller, at the cost of the one behind it, or before it where it is the last. */
export function grown(layout: Layout, id: number, growth: Growth): Layout {
  const at = layout.findIndex(({ panels }) => panels.some((panel) => panel.id === id));
  const by = growth === 'wider' || growth === 'taller' ? GROWTH : -GROWTH;
  if (growth === 'wider' || growth === 'narrower') return withEdgeMoved(layout, at, by);
  return layout.map((each, index) =>
    index === at ? { ...each, panels: withEdgeMoved(each.panels, each.panels.findIndex((panel) => panel.id === id), by) } : each,
  );
}

export function boxesOf(layout: Layout): readonly Box[] {
  let left = 0;
  return layout.flatMap(({ share, panels }) => {
    let top = 0;
    const boxes = panels.map((panel) => {
      const box = { panel, left: left * 100, top: top * 100, width: share * 100, height: panel.share * 100 };
      top += panel.share;
      return box;
    });
    left += share;
    return boxes;
  });
}

export function newestId(layout: Layout): number {
  return Math.max(0, ...panelsOf(layout).map(({ id }) => id));
}

/** A layout that was kept somewhere; null if it is none. */
export function readLayout(text: string | null): Layout | null {
  try {
    const columns = JSON.parse(text ?? 'null') as unknown;
    if (!Array.isArray(columns)) return null;
    let id = 0;
    const read = columns.map((each: Column) => column(each.panels.map((panel) => readPanel(panel, ++id)), each.share));
    const whole = evened(read);
    return whole.length > 0 && panelsOf(whole).length <= MOST_PANELS ? whole : null;
  } catch {
    return null;
  }
}

function readPanel({ shows, view, share }: Panel, id: number): Panel {
  if (typeof shows !== 'string' || shows === '') throw new TypeError('A panel shows something.');
  return { id, shows, view: readView(view), share };
}

function column(panels: readonly Panel[], share = 1): Column {
  return { share, panels };
}

function withPanels(each: Column, panels: readonly Panel[]): Column {
  return panels.length === each.panels.length ? each : { ...each, panels };
}

/** Without empty columns, and with shares that add up to one. */
function evened(layout: Layout): Layout {
  return shared(layout.filter(({ panels }) => panels.length > 0).map((each) => ({ ...each, panels: shared(each.panels) })));
}

function shared<T extends { readonly share: number }>(parts: readonly T[]): readonly T[] {
  const sound = parts.every(({ share }) => Number.isFinite(share) && share > 0);
  const sum = sound ? parts.reduce((total, { share }) => total + share, 0) : parts.length;
  return parts.map((part) => ({ ...part, share: (sound ? part.share : 1) / sum }));
}

function below(each: Column, id: number, copy: Panel): Column {
  const panels = each.panels.flatMap((panel) => {
    const share = panel.share / 2;
    return panel.id === id ? [{ ...panel, share }, { ...copy, share }] : [panel];
  });
  return { ...each, panels };
}

function beside(each: Column, id: number, copy: Panel): readonly Column[] {
  if (!each.panels.some((panel) => panel.id === id)) return [each];
  return [{ ...each, share: each.share / 2 }, column([{ ...copy, share: 1 }], each.share / 2)];
}

function swapped(panels: readonly Panel[], index: number, other: number): readonly Panel[] {
  const [one, two] = [panels[index], panels[other]];
  return one === undefined || two === undefined ? panels : panels.with(index, two).with(other, one);
}

function sideways(layout: Layout, from: number, panel: Panel, step: number): Layout {
  const target = from + step;
  const without = layout.map((each) => withPanels(each, each.panels.filter((other) => other !== panel)));
  if (layout[target] === undefined) {
    const made = column([{ ...panel, share: 1 }], 1 / (layout.length + 1));
    return layout[from]?.panels.length === 1 ? layout : evened(step < 0 ? [made, ...without] : [...without, made]);
  }
  const index = layout[from]?.panels.indexOf(panel) ?? 0;
  return evened(without.map((each, number) => (number === target ? joined(each, panel, index) : each)));
}

function joined(each: Column, panel: Panel, index: number): Column {
  return { ...each, panels: each.panels.toSpliced(index, 0, { ...panel, share: 1 / each.panels.length }) };
}

const LEAST = 0.08;
const GROWTH = 0.05;

function withEdgeMoved<T extends { readonly share: number }>(parts: readonly T[], index: number, by: number): readonly T[] {
  const isLast = index === parts.length - 1;
  const edge = isLast ? index - 1 : index;
  const end = parts.slice(0, edge + 1).reduce((total, { share }) => total + share, 0);
  return resized(parts, edge, isLast ? end - by : end + by);
}

function resized<T extends { readonly share: number }>(parts: readonly T[], index: number, at: number): readonly T[] {
  const [one, two] = [parts[index], parts[index + 1]];
  if (one === undefined || two === undefined || !Number.isFinite(at)) return parts;
  const begin = parts.slice(0, index).reduce((total, { share }) => total + share, 0);
  const both = one.share + two.share;
  const share = Math.min(Math.max(at - begin, Math.min(LEAST, both / 2)), both - Math.min(LEAST, both / 2));
  return parts.with(index, { ...one, share }).with(index + 1, { ...two, share: both - share });
}
