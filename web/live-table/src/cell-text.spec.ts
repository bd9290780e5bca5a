import { describe, expect, it } from 'vitest';
import { cellText, countOf, countText, rawText } from './cell-text.ts';

const text = (type: string, cell: Parameters<typeof cellText>[1], name = 'x') => cellText({ name, type }, cell).text;

describe('numbers', () => {
  it.each([
    ['int64', 41, '41'],
    ['int64', 1_234_567, '1,234,567'],
    ['int64', 9007199254740993n, '9,007,199,254,740,993'],
    ['int64', -1_234, '−1,234'],
    ['double', 12.5, '12.50'],
    ['double', 100, '100.00'],
    ['double', 1_234.56789, '1,234.56789'],
    ['double', 0.1, '0.10'],
    ['double', 1e21, '1e+21'],
    ['double', NaN, 'NaN'],
    ['double', -Infinity, '-Infinity'],
    ['int64', 'forty', 'forty'],
  ] as const)('of %s %s', (type, cell, shown) => {
    expect(text(type, cell)).toBe(shown);
  });

  it('that name something are not grouped', () => {
    expect([text('int64', 1_234_567, 'userId'), text('int64', 1_234_567, 'offset'), text('int64', 2_026, 'year')]).toEqual([
      '1234567',
      '1234567',
      '2026',
    ]);
  });
});

it('a timestamp is legible, and what is none is left alone', () => {
  expect(text('timestamp', '2026-01-02T03:04:05.678Z')).toBe('2026-01-02 03:04:05.678');
  expect(text('timestamp', 'soon')).toBe('soon');
  expect(text('string', '2026-01-02T03:04:05Z')).toBe('2026-01-02T03:04:05Z');
});

it('null and empty text are told apart, also for a screen reader', () => {
  const column = { name: 'x', type: 'string' };
  expect(cellText(column, null)).toEqual({ text: '–', look: 'null', words: 'no value' });
  expect(cellText(column, '')).toEqual({ text: '“”', look: 'empty', words: 'empty text' });
  expect(cellText(column, '–').look).toBe('value');
});

it('long text is cut in the grid and whole when copied', () => {
  const long = 'x'.repeat(1_000_000);
  expect(text('string', long).length).toBe(301);
  expect(rawText(long)).toBe(long);
  expect([rawText(null), rawText(1_234.5), rawText(9007199254740993n)]).toEqual(['', '1234.5', '9007199254740993']);
});

it('a sign of two halves is not cut apart, and lines stand beside each other', () => {
  expect(text('string', `${'x'.repeat(299)}🦊🦊`)).toBe(`${'x'.repeat(299)}…`);
  expect(text('string', `${'x'.repeat(298)}🦊🦊`)).toBe(`${'x'.repeat(298)}🦊…`);
  expect(text('string', 'one\ntwo\r\nthree')).toBe('one↵two↵three');
});

it('a count is grouped', () => {
  expect(countText(1_000_000)).toBe('1,000,000');
});

it('a count is read as it is printed, and as people write it', () => {
  expect(['500,000', ' 500000 ', '500 000', '0'].map(countOf)).toEqual([500_000, 500_000, 500_000, 0]);
  expect(['', ' ', '-1', '1.5', 'many', '1e3'].map(countOf)).toEqual([null, null, null, null, null, null]);
});
