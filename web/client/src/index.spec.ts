import { expect, it } from 'vitest';
import * as client from './index.ts';

it('exports exactly this', () => {
  expect(Object.keys(client).sort()).toEqual([
    'PAGE_SIZE',
    'TableHub',
    'TablecastError',
    'apiUrl',
    'hostEnvironment',
    'problemOf',
    'readCatalogue',
  ]);
});
