/** Makes the package that other Angular projects install. The client is built before it: its types are taken from there. */
import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const packagr = here('../node_modules/ng-packagr/src/cli/main.js');

execFileSync(process.execPath, [packagr, '--project', here('../live-table/ng-package.json'), '--config', here('../live-table/tsconfig.build.json')], { stdio: 'inherit' });
copyFileSync(here('../../LICENSE'), here('../live-table/dist/LICENSE'));
