import { expect, it } from 'vitest';
import * as liveTable from './index.ts';

it('exports exactly this', () => {
  expect(Object.keys(liveTable).sort()).toEqual([
    'LiveTableGrid',
    'PLAIN_VIEW',
    'TABLE_HUB',
    'ViewerStorage',
    'injectConnection',
    'injectLiveTable',
    'provideTableHub',
    'putOnClipboard',
  ]);
});
