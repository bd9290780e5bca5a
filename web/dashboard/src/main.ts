import { destroyPlatform, provideBrowserGlobalErrorListeners } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { Dashboard } from './dashboard.ts';

const HOST = 'tablecast-dashboard';
const here = globalThis as { tablecastPage?: Promise<void> };

/** Run again in the same document, as a hot reload does, the page takes the place of the one that is there, and leaves nothing of it open. */
async function start(before: Promise<void> | undefined): Promise<void> {
  await before;
  destroyPlatform();
  if (document.querySelector(HOST) === null) document.body.prepend(document.createElement(HOST));
  await bootstrapApplication(Dashboard, { providers: [provideBrowserGlobalErrorListeners()] });
}

here.tablecastPage = start(here.tablecastPage).catch((error: unknown) => {
  console.error(error);
});
