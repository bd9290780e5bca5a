/** Makes the client one ES module with its types, next to the page, for people who use another framework or none. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const target = here('../../src/tablecast/server/page/client/');

await build({
  entryPoints: [here('src/index.ts')],
  outfile: `${target}tablecast-client.js`,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
});

const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
execFileSync(process.execPath, [tsc, '--project', here('tsconfig.types.json'), '--outDir', `${target}types`]);
writeFileSync(`${target}tablecast-client.d.ts`, "export * from './types/index.d.ts';\n");
