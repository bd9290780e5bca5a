import { beforeEach, describe, expect, it } from 'vitest';
import { Scroller } from './scroller.ts';

let scroll: HTMLElement;
let body: HTMLElement;
let scroller: Scroller;

const drag = (to: number) => {
  scroll.scrollTop = to;
  scroller.scrolled();
};

beforeEach(() => {
  scroll = document.createElement('div');
  body = document.createElement('div');
  scroller = new Scroller(scroll, body, 28);
});

it('is as tall as its rows, and ends with them', () => {
  scroller.resize(1_000);
  expect(body.style.blockSize).toBe('28000px');
  scroller.go(1e9);
  expect([scroller.px, scroller.atEnd]).toEqual([27_400, true]);
  scroller.resize(500);
  expect([scroller.px, scroll.scrollTop]).toEqual([13_400, 13_400]);
});

describe('ten million rows', () => {
  beforeEach(() => {
    scroller.resize(10_000_000);
  });

  it('put a row exactly at the top, though the bar cannot', () => {
    scroller.go(1_234_567 * 28);
    expect(scroller.topOf(1_234_567)).toBeCloseTo(scroll.scrollTop, 6);
    scroller.scrolled();
    expect(scroller.px).toBe(1_234_567 * 28);
  });

  it('go on from there by small steps, and anywhere by big ones', () => {
    scroller.go(1_234_567 * 28);
    const before = scroller.px;
    drag(scroll.scrollTop + 10);
    expect(scroller.px - before).toBeCloseTo(10 * scroller.scale.rowsPerBar, 3);
    drag(8_000_000);
    expect(scroller.px).toBeCloseTo(scroller.scale.rowsAt(8_000_000), 3);
    drag(0);
    expect(scroller.px).toBe(0);
  });

  it('that become a few more leave the bar alone', () => {
    scroller.go(1_000_000);
    const bar = scroll.scrollTop;
    scroller.resize(10_000_050);
    expect([scroll.scrollTop, scroller.px]).toEqual([bar, 1_000_000]);
  });
});
