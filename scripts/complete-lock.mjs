// Adds the builds for other systems that npm left out of package-lock.json: `npm run complete-lock`.
//
// npm locks only the optional dependencies that it could look up where it ran (npm/cli#4828). Then `npm ci` refuses the lock,
// or a Mac lacks its build. An entry that names its system is enough: npm skips it on other systems, and fetches it by name and
// version on its own.
import { readFileSync, writeFileSync } from 'node:fs';

const LOCK_FILE = new URL('../package-lock.json', import.meta.url);

const OS = words('android darwin freebsd linux openharmony win32', { windows: 'win32' });
const CPU = words('arm arm64 ia32 ppc64 riscv64 s390x x64', { 64: 'x64' });
const LIBC = words('musl', { gnu: 'glibc', gnueabihf: 'glibc', musleabihf: 'musl' });

function words(same, others) {
  return new Map([...same.split(' ').map((word) => [word, word]), ...Object.entries(others)]);
}

/** The system that a build is for, from its name: `@oxfmt/binding-linux-arm64-musl`. */
export function systemOf(name) {
  const parts = name.split(/[/-]/);
  const find = (known) => parts.map((part) => known.get(part)).findLast((word) => word !== undefined);
  return { os: find(OS), cpu: find(CPU), libc: find(LIBC) };
}

/** The optional dependencies of a lock's packages that the lock does not describe. */
export function missingBuilds(packages) {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {}, dev }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isLocked(packages, path, name))
      .map(([name, version]) => ({ name, version, dev })),
  );
}

/** Resolves like Node: inside the requesting package, then inside each package that contains it. */
function isLocked(packages, path, name) {
  if ((path === '' ? '' : `${path}/`) + `node_modules/${name}` in packages) return true;
  if (path === '') return false;
  return isLocked(packages, path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name);
}

/** The entry that npm would have written, without the checksum, which only the registry has. */
function entry({ name, version, dev }) {
  const { os, cpu, libc } = systemOf(name);
  if (os === undefined || cpu === undefined)
    throw new Error(`The name ${name} does not name the system that it is for.`);
  return { version, cpu: [cpu], ...(dev && { dev }), ...(libc && { libc: [libc] }), optional: true, os: [os] };
}

function completeLock() {
  const lock = JSON.parse(readFileSync(LOCK_FILE, 'utf8'));
  const missing = missingBuilds(lock.packages);
  if (missing.length > 0) {
    for (const build of missing) lock.packages[`node_modules/${build.name}`] = entry(build);
    const byPath = ([a], [b]) => a.localeCompare(b, 'en');
    lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(byPath));
    writeFileSync(LOCK_FILE, `${JSON.stringify(lock, null, 2)}\n`);
  }
  console.log(`${missing.length} builds added to package-lock.json`);
}

if (import.meta.main ?? process.argv[1]?.endsWith('complete-lock.mjs')) completeLock();
