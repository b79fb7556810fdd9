// Builds the dashboard into apps/dashboard/dist, from where the gateway serves it: `npm run build:dashboard`. Start
// and test rebuild it when its sources have changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { fail, ROOT, SetupError, setUp, step } from './setup.mjs';

const brotli = promisify(brotliCompress);
const DASHBOARD = join(ROOT, 'apps/dashboard');
const STAMP = join(DASHBOARD, 'dist/stamp');
/** Its sources, except the types generated from the schema. */
const SOURCES = [
  'apps/dashboard/src',
  'apps/dashboard/public',
  'apps/dashboard/index.html',
  'apps/dashboard/vite.config.ts',
  'package-lock.json',
  'schema.graphql',
  'scripts/generate-documents.ts',
  'scripts/dashboard.mjs',
];

/**
 * Builds the dashboard if it is missing or stale, after `prepare`. Everything else works without it, so a failure is only reported.
 */
export async function dashboardBuilt(node, prepare = () => {}) {
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === fingerprint()) return;
  prepare();
  try {
    await buildDashboard(node);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(`${error.message}\nThe dashboard is missing or outdated; everything else works.`);
  }
}

/** Builds the dashboard. @throws SetupError */
export async function buildDashboard(node) {
  const before = fingerprint();
  await step('Typing the documents of the dashboard', node, [join(ROOT, 'scripts/generate-documents.ts')]);
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  await step('Building the dashboard', node, [vite, 'build', DASHBOARD, '--logLevel', 'warn']);
  await compress();
  writeFileSync(STAMP, before);
}

/** Compresses scripts and styles, which the gateway serves to browsers that accept Brotli. */
async function compress() {
  const assets = join(DASHBOARD, 'dist/assets');
  const names = readdirSync(assets).filter((name) => /\.(js|css)$/.test(name));
  await Promise.all(
    names.map(async (name) =>
      writeFileSync(join(assets, `${name}.br`), await brotli(readFileSync(join(assets, name)))),
    ),
  );
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap((source) => filesOf(join(ROOT, source))))
    hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

function filesOf(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('generated'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

if (process.argv[1] === import.meta.filename) {
  try {
    await buildDashboard(await setUp());
  } catch (error) {
    fail(error);
  }
}
