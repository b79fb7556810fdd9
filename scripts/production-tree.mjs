// The tree of a production image: `node scripts/production-tree.mjs FOLDER` copies what the programs load from this checkout
// to a new folder. deploy/Dockerfile and its test call it, after `npm run build`.
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { productionInstall } from './licences.mjs';
import { fail, ROOT, SetupError } from './setup.mjs';

/** Workspaces that only build, test, or run everything on one machine. */
const NOT_SHIPPED = ['apps/dashboard', 'apps/inbox', 'apps/launcher', 'bench', 'packages/testkit'];

/** Folders of a workspace, or of `scripts`, that no program loads. */
const NOT_RUN = [
  'chaos',
  'complexity',
  'demo',
  'dist',
  'node_modules',
  'prose',
  'screenshots',
  'sql-ownership',
  'test',
];

/** Built files, which git ignores. */
const DASHBOARD = 'apps/dashboard/dist';
const BUNDLES = 'node_modules/.cache/postroom';

/** Where the programs keep compiled code (`NODE_COMPILE_CACHE`), relative to the tree. */
const COMPILE_CACHE = '.compile-cache';

/** Licences stay; type declarations, source maps, sources in TypeScript and documentation go. */
const isLicence = (name) => /^(licen[cs]e|copying|notice)/i.test(name);
const isNeeded = (name) => isLicence(name) || !/\.(map|md|markdown|ts|mts|cts|tsx|flow)$/.test(name);

/** The query compilers of Prisma's other databases: 50 MB. */
const isOtherDatabase = (name) => /^query_compiler_.*\.(cockroachdb|mysql|sqlite|sqlserver)\./.test(name);

/** The native libraries of other systems: 120 MB. */
function isOtherSystem(triple) {
  const system = { darwin: 'darwin', linux: 'linux', win32: 'windows' }[process.platform];
  const processor = { arm64: 'aarch64', x64: 'x86_64' }[process.arch];
  return /^(aarch64|x86_64)-/.test(triple) && !(triple.startsWith(`${processor}-`) && triple.includes(system));
}

/** Copies the tree to `target`, which must not exist. @throws SetupError if it does, or if `npm run build` has not run. */
function copyProductionTree(target) {
  const missing = [DASHBOARD, BUNDLES].filter((folder) => !existsSync(join(ROOT, folder)));
  if (missing.length > 0) throw new SetupError(`${missing.join(', ')}: missing. Run npm run build first.`);
  if (existsSync(target)) throw new SetupError(`${target}: exists. Name a new folder.`);
  const copy = (folder, keeps) => copyFolder(join(ROOT, folder), join(target, folder), keeps);

  for (const file of ['package.json', 'LICENSE']) copyFile(join(ROOT, file), join(target, file));
  for (const folder of ['bin', DASHBOARD]) copy(folder, () => true);
  copy(BUNDLES, (name) => /^workflows-.*\.js$/.test(name));
  for (const workspace of shippedWorkspaces())
    copy(workspace, (name) => !NOT_RUN.includes(name) && !/\.test\./.test(name));
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  for (const folder of productionInstall(lock))
    // A package for another system is not installed.
    if (existsSync(join(ROOT, folder)))
      copy(
        folder,
        (name, isFolder) => !isOtherSystem(name) && (isFolder ? name !== 'node_modules' : isPackageFile(name)),
      );

  linkWorkspaces(target, lock);
  // Whichever user builds the cache may write to it.
  mkdirSync(join(target, COMPILE_CACHE));
  chmodSync(join(target, COMPILE_CACHE), 0o1777);
}

const isPackageFile = (name) => isNeeded(name) && !isOtherDatabase(name);

function shippedWorkspaces() {
  const { workspaces } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return workspaces
    .flatMap((pattern) => {
      const folder = dirname(pattern);
      return pattern.endsWith('/*') ? readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`) : [pattern];
    })
    .filter((folder) => existsSync(join(ROOT, folder, 'package.json')) && !NOT_SHIPPED.includes(folder));
}

function copyFolder(from, to, keeps) {
  makeFolder(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (!keeps(entry.name, entry.isDirectory())) continue;
    if (entry.isDirectory()) copyFolder(join(from, entry.name), join(to, entry.name), keeps);
    else if (entry.isFile()) copyFile(join(from, entry.name), join(to, entry.name));
  }
}

function copyFile(from, to) {
  makeFolder(dirname(to));
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  chmodSync(to, 0o644);
}

/** Like all files, readable by the user of the image, whatever the umask of the build. */
function makeFolder(path) {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
  chmodSync(path, 0o755);
}

/** Links `node_modules/@postroom/…` to the workspaces, as npm does. */
function linkWorkspaces(target, { packages }) {
  for (const [path, { link, resolved }] of Object.entries(packages)) {
    if (!link || !existsSync(join(target, resolved, 'package.json'))) continue;
    makeFolder(dirname(join(target, path)));
    symlinkSync(relative(dirname(path), resolved), join(target, path));
  }
}

if (process.argv[1] === import.meta.filename) {
  try {
    const [folder] = process.argv.slice(2);
    if (folder === undefined) throw new SetupError('Usage: node scripts/production-tree.mjs FOLDER');
    copyProductionTree(resolve(folder));
  } catch (error) {
    fail(error);
  }
}
