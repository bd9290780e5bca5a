import { describe, expect, it } from 'vitest';
import type { Layout } from './layout.ts';
import { boxesOf, changed, closed, columnsResized, exchanged, grown, layoutOf, moved, newestId, panelsOf, readLayout, rowsResized, split } from './layout.ts';

const FOUR = layoutOf([['a', 'b'], ['c', 'd']]);

/** The names, column by column. */
const names = (layout: Layout) => layout.map(({ panels }) => panels.map(({ shows }) => shows).join('/')).join(' | ');
const shares = (layout: Layout) => layout.map(({ share, panels }) => [share, ...panels.map((panel) => panel.share)].map((part) => Math.round(part * 100)));

it('begins with equal shares', () => {
  expect(shares(FOUR)).toEqual([[50, 50, 50], [50, 50, 50]]);
  expect(boxesOf(FOUR).map(({ panel, left, top }) => [panel.shows, left, top])).toEqual([['a', 0, 0], ['b', 0, 50], ['c', 50, 0], ['d', 50, 50]]);
  expect(names(layoutOf([[], ['x']]))).toBe('x');
});

it('changes one panel and leaves the others the same objects', () => {
  const next = changed(FOUR, 2, { shows: 'z' });
  expect(names(next)).toBe('a/z | c/d');
  expect(panelsOf(next)[0]).toBe(panelsOf(FOUR)[0]);
});

describe('splitting', () => {
  it('puts the copy right or below, half as large', () => {
    expect(names(split(FOUR, 1, 'below'))).toBe('a/a/b | c/d');
    expect(shares(split(FOUR, 1, 'below'))[0]).toEqual([50, 25, 25, 50]);
    expect(names(split(FOUR, 2, 'right'))).toBe('a/b | b | c/d');
    expect(shares(split(FOUR, 2, 'right')).map(([share]) => share)).toEqual([25, 25, 50]);
    expect(newestId(split(FOUR, 2, 'right'))).toBe(5);
  });

  it('ends where nobody could read the panels any more', () => {
    let layout = FOUR;
    for (let count = 0; count < 20; count += 1) layout = split(layout, 1, 'below');
    expect(panelsOf(layout).length).toBe(12);
  });
});

describe('closing', () => {
  it('gives the room to the others', () => {
    expect(shares(closed(FOUR, 1))).toEqual([[50, 100], [50, 50, 50]]);
    expect(shares(closed(closed(FOUR, 1), 2))).toEqual([[100, 50, 50]]);
  });

  it('leaves the last one', () => {
    const one = layoutOf([['a']]);
    expect(closed(one, 1)).toBe(one);
  });
});

describe('moving', () => {
  it('up and down changes places', () => {
    expect(names(moved(FOUR, 1, 'down'))).toBe('b/a | c/d');
    expect(names(moved(FOUR, 1, 'up'))).toBe('a/b | c/d');
  });

  it('sideways goes to the next column, or to a new one at the edge', () => {
    expect(names(moved(FOUR, 2, 'right'))).toBe('a | c/b/d');
    expect(names(moved(FOUR, 3, 'left'))).toBe('c/a/b | d');
    expect(names(moved(FOUR, 2, 'left'))).toBe('b | a | c/d');
    expect(names(moved(layoutOf([['a'], ['b']]), 1, 'right'))).toBe('a/b');
    const alone = layoutOf([['a']]);
    expect(moved(alone, 1, 'left')).toBe(alone);
  });

  it('by hand changes places with another', () => {
    const next = exchanged(rowsResized(FOUR, 0, 0, 0.7), 1, 4);
    expect([names(next), shares(next)]).toEqual(['d/b | c/a', [[50, 70, 30], [50, 50, 50]]]);
    expect([exchanged(FOUR, 1, 1), exchanged(FOUR, 1, 99)]).toEqual([FOUR, FOUR]);
  });

  it('keeps shares that add up', () => {
    for (const direction of ['left', 'right', 'up', 'down'] as const) {
      const next = moved(FOUR, 3, direction);
      const sum = (parts: readonly { share: number }[]) => parts.reduce((total, { share }) => total + share, 0);
      expect(sum(next)).toBeCloseTo(1);
      for (const { panels } of next) expect(sum(panels)).toBeCloseTo(1);
    }
  });
});

it('moves an edge, within reason', () => {
  expect(shares(columnsResized(FOUR, 0, 0.7)).map(([share]) => share)).toEqual([70, 30]);
  expect(shares(columnsResized(FOUR, 0, -3)).map(([share]) => share)).toEqual([8, 92]);
  expect(shares(rowsResized(FOUR, 1, 0, 0.25))[1]).toEqual([50, 25, 75]);
  expect(columnsResized(FOUR, 5, 0.5)).toEqual(FOUR);
  expect(columnsResized(FOUR, 0, Number.NaN)).toEqual(FOUR);
});

it('makes a panel larger or smaller by steps, at the cost of its neighbour', () => {
  expect(shares(grown(FOUR, 1, 'wider'))).toEqual([[55, 50, 50], [45, 50, 50]]);
  expect(shares(grown(FOUR, 4, 'wider'))).toEqual([[45, 50, 50], [55, 50, 50]]);
  expect(shares(grown(FOUR, 3, 'narrower'))).toEqual([[55, 50, 50], [45, 50, 50]]);
  expect(shares(grown(FOUR, 1, 'taller'))).toEqual([[50, 55, 45], [50, 50, 50]]);
  expect(shares(grown(FOUR, 4, 'shorter'))).toEqual([[50, 50, 50], [50, 55, 45]]);
  const alone = layoutOf([['a']]);
  expect([grown(alone, 1, 'wider'), grown(alone, 1, 'taller')]).toEqual([alone, alone]);
});

describe('what was kept', () => {
  it('is read again, with ids of its own', () => {
    const kept = readLayout(JSON.stringify(split(columnsResized(FOUR, 0, 0.7), 1, 'right')));
    expect(kept && names(kept)).toBe('a/b | a | c/d');
    expect(kept && panelsOf(kept).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
  });

  it('is mended where shares are no shares', () => {
    const panel = { shows: 'a', share: 'much', view: null };
    const kept = readLayout(JSON.stringify([{ share: -1, panels: [panel, panel] }, { share: null, panels: [] }]));
    expect(kept && shares(kept)).toEqual([[100, 50, 50]]);
    expect(kept?.[0]?.panels[0]?.view).toEqual({ sort: [], filter: null, search: '' });
  });

  it.each([null, '', '{', '{}', '[]', '[1]', '[{"panels":[{}]}]', '[{"panels":[{"shows":7}]}]', '"x"'])('is forgotten if it is %s', (text) => {
    expect(readLayout(text)).toBeNull();
  });
});
