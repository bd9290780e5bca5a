/** Puts the built client next to the page as one small module with its types, for people who use another framework or none, and no package. */
import { cpSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const target = here('../../src/tablecast/server/page/client/');

await build({
  entryPoints: [here('dist/index.js')],
  outfile: `${target}tablecast-client.js`,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
});
cpSync(here('dist'), `${target}types`, { recursive: true, filter: (file) => !/\.js$|LICENSE$/.test(file) });
writeFileSync(`${target}tablecast-client.d.ts`, "export * from './types/index.d.ts';\n");
