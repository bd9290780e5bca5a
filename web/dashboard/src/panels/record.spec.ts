import { expect, it } from 'vitest';
import { isNamedByPlace } from './record.ts';

it.each([
  ['users_ui', '0-17', true],
  ['dead_letters', 'users-0-17', true],
  ['account', 'u7', false],
  ['account', 'order-0-17', false],
  ['control_raw', '0-17', false],
])('a row of %s that is named %s', (table, row, byPlace) => {
  expect(isNamedByPlace(table, row)).toBe(byPlace);
});
