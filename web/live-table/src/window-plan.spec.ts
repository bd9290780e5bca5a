import { expect, it } from 'vitest';
import { firstWindow, planWindow } from './window-plan.ts';

it('subscribes to what is seen and some rows around it', () => {
  expect(planWindow({ from: 500_000, to: 500_022 }, 1_000_000, firstWindow(22))).toEqual({ offset: 499_950, size: 122 });
});

it('stays where it is while enough rows are left on both sides', () => {
  const present = { offset: 1_000, size: 122 };
  expect(planWindow({ from: 1_050, to: 1_072 }, 9_000, present)).toBe(present);
  expect(planWindow({ from: 1_080, to: 1_102 }, 9_000, present)).toBe(present);
  expect(planWindow({ from: 1_090, to: 1_112 }, 9_000, present)).toEqual({ offset: 1_040, size: 122 });
  expect(planWindow({ from: 1_005, to: 1_027 }, 9_000, present)).toEqual({ offset: 955, size: 122 });
});

it('does not move for rows that are not there, at either end', () => {
  expect(planWindow({ from: 0, to: 22 }, 9_000, firstWindow(22))).toEqual(firstWindow(22));
  const end = { offset: 8_928, size: 122 };
  expect(planWindow({ from: 8_978, to: 9_000 }, 9_000, end)).toBe(end);
});

it('grows with the grid, and shrinks when it is far too large', () => {
  expect(planWindow({ from: 0, to: 200 }, 9_000, firstWindow(22)).size).toBe(300);
  expect(planWindow({ from: 0, to: 22 }, 9_000, { offset: 0, size: 1_000 }).size).toBe(122);
});
