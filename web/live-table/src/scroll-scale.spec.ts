import { describe, expect, it } from 'vitest';
import { ScrollScale } from './scroll-scale.ts';

describe('a table that fits', () => {
  const scale = new ScrollScale(10, 28, 600);

  it('does not scroll, and shows all', () => {
    expect([scale.tallPx, scale.endPx, scale.rowsAt(0), scale.barAt(500)]).toEqual([280, 0, 0, 0]);
    expect(scale.seen(0)).toEqual({ from: 0, to: 10 });
  });
});

describe('a thousand rows', () => {
  const scale = new ScrollScale(1_000, 28, 600);

  it('scroll pixel by pixel', () => {
    expect([scale.tallPx, scale.rowsAt(1_234), scale.barAt(1_234)]).toEqual([28_000, 1_234, 1_234]);
    expect(scale.seen(29)).toEqual({ from: 1, to: 23 });
  });

  it('are revealed with the least scrolling', () => {
    expect(scale.reveal(5, 280)).toBe(140);
    expect(scale.reveal(12, 280)).toBe(280);
    expect(scale.reveal(100, 280)).toBe(101 * 28 - 600);
    expect(scale.reveal(999, 0)).toBe(scale.endPx);
  });
});

describe('ten million rows', () => {
  const scale = new ScrollScale(10_000_000, 28, 600);

  it('are squeezed into what a browser can lay out, with both ends in reach', () => {
    expect(scale.tallPx).toBe(16_000_000);
    expect(scale.rowsAt(0)).toBe(0);
    expect(scale.rowsAt(scale.tallPx - 600)).toBeCloseTo(scale.endPx, 3);
    expect(scale.seen(scale.endPx).to).toBe(10_000_000);
  });

  it('come back from the bar to where they were', () => {
    expect(scale.rowsAt(scale.barAt(123_456_789))).toBeCloseTo(123_456_789, 3);
  });
});

it('an empty table shows nothing', () => {
  expect(new ScrollScale(0, 28, 600).seen(0)).toEqual({ from: 0, to: 0 });
});
