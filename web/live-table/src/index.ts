export { putOnClipboard } from './clipboard.ts';
export type { GridView } from './grid-view.ts';
export { PLAIN_VIEW } from './grid-view.ts';
export type { LiveTableOptions, LiveTableRef } from './inject-live-table.ts';
export { injectLiveTable } from './inject-live-table.ts';
export { LiveTableGrid } from './live-table-grid.ts';
export { injectConnection, provideTableHub, TABLE_HUB } from './table-hub.ts';
export { ViewerStorage } from './viewer-storage.ts';
