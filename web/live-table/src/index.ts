export type { LiveTableOptions, LiveTableRef } from './inject-live-table.ts';
export { injectLiveTable } from './inject-live-table.ts';
export { LiveTableGrid } from './live-table-grid.ts';
export { provideTableHub, TABLE_HUB } from './table-hub.ts';
