/** Makes the package that others install: JavaScript and types, module by module. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));

rmSync(here('dist'), { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '--project', here('tsconfig.build.json')], { stdio: 'inherit' });
copyFileSync(here('../../LICENSE'), here('dist/LICENSE'));
