import { provideBrowserGlobalErrorListeners } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { Dashboard } from './dashboard.ts';

bootstrapApplication(Dashboard, { providers: [provideBrowserGlobalErrorListeners()] }).catch((error: unknown) => {
  console.error(error);
});
