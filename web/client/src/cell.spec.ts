import { expect, it } from 'vitest';
import { decodeCell } from './cell.ts';

it.each([
  ['int64', '41', 41],
  ['int64', '-7', -7],
  ['int64', '9007199254740991', 9007199254740991],
  ['int64', '9007199254740993', 9007199254740993n],
  ['int64', '-9223372036854775808', -9223372036854775808n],
  ['int64', 'forty', 'forty'],
  ['double', 1.5, 1.5],
  ['double', 'NaN', NaN],
  ['double', 'Infinity', Infinity],
  ['double', '-Infinity', -Infinity],
  ['boolean', false, false],
  ['string', 'zoë 🎈', 'zoë 🎈'],
  ['string', '41', '41'],
  ['timestamp', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z'],
  ['int64', null, null],
  ['string', undefined, null],
  ['anything', { nested: [1] }, '{"nested":[1]}'],
] as const)('reads a %s %j', (type, raw, cell) => {
  expect(decodeCell(type, raw)).toBe(cell);
});
