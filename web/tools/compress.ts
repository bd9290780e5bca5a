/** Puts a brotli and a gzip twin next to each text file of the built page, once and as small as they get: a server only hands them out. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const PAGE = fileURLToPath(new URL('../../src/tablecast/server/page/', import.meta.url));
const TEXT = /\.(js|css|html|svg)$/;
/** Below this the head of an answer weighs more than what is saved. */
const LEAST_BYTES = 1_024;

for (const file of readdirSync(PAGE, { recursive: true, encoding: 'utf8' }).filter((name) => TEXT.test(name))) {
  const path = join(PAGE, file);
  const content = readFileSync(path);
  if (content.length < LEAST_BYTES) continue;
  writeFileSync(`${path}.br`, brotliCompressSync(content));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}
