/**
 * Adds to package-lock.json the optional packages of other platforms that the registry in use does not have. npm leaves them out
 * of the lock without a word, and `npm ci` then refuses the lock. They carry no checksum: nobody here could download them.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface Entry {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const FILE = new URL('../package-lock.json', import.meta.url);
const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openbsd', 'openharmony', 'win32'];
const PROCESSORS = ['arm64', 'arm', 'x64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'wasm32'];

const lock = JSON.parse(readFileSync(FILE, 'utf8')) as { packages: Record<string, Entry> };

/** Where `name` is found from the package at `path`, as Node looks for it. */
function found(path: string, name: string): Entry | undefined {
  const inside = lock.packages[`${path}/node_modules/${name}`];
  if (inside !== undefined || path === '') return inside ?? lock.packages[`node_modules/${name}`];
  return found(path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name);
}

/** An entry for the platform that the package's name tells, with its fields in npm's order. */
function stub(name: string, version: string): Entry {
  const words = name.split(/[/-]/);
  const os = SYSTEMS.filter((system) => words.includes(system));
  const cpu = PROCESSORS.filter((processor) => words.includes(processor));
  const libc = os.includes('linux') ? [words.some((word) => word.startsWith('musl')) ? 'musl' : 'glibc'] : [];
  if (cpu.length === 0) throw new Error(`'${name}' is not a package of one platform, so it must come from the registry.`);
  const [system, library] = [os.length > 0 ? { os } : {}, libc.length > 0 ? { libc } : {}];
  return { version, cpu, dev: true, ...library, optional: true, ...system };
}

for (const [path, { optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (found(path, name)?.version === version || !/^\d/.test(version)) continue;
    const beside = path.slice(0, path.lastIndexOf('node_modules/'));
    lock.packages[`${beside}node_modules/${name}`] = stub(name, version);
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([left], [right]) => left.localeCompare(right, 'en')));
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
