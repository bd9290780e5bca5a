import { InjectionToken } from '@angular/core';
import type { Environment } from '@tablecast/client';
import { hostEnvironment } from '@tablecast/client';

/** The world that the hub lives in; a test gives its own. */
export const ENVIRONMENT = new InjectionToken<Environment>('ENVIRONMENT', { factory: hostEnvironment });
