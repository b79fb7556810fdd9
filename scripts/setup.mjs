// Prepares what our code needs: the packages, the generated database client, and Node 24. Runs on Node 20.19 or
// later, without any package.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const GENERATED = join(ROOT, 'modules/platform/generated');
const STAMP = join(GENERATED, 'stamp');
/** Progress interval without a terminal, in milliseconds. */
const STILL_WORKING_MS = 15_000;

/** An error with a message for the user; shown without a stack trace. */
export class SetupError extends Error {}

/** Prepares this checkout and returns the path of the Node binary that runs everything else. */
export async function setUp() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new SetupError(`Postroom requires Node 20.19 or later; this is ${process.version}.`);
  }
  if (!isInstalled()) await install();
  const node = modernNode();
  if (!isGenerated()) await generateClient(node);
  return node;
}

/** Prints a SetupError's message, or any other error in full; exits with status 1. */
export function fail(error) {
  console.error(error instanceof SetupError ? `\n${error.message}` : error);
  process.exit(1);
}

/** Whether every package in the lock file is installed in its version; builds for other systems may be missing. */
function isInstalled() {
  const wanted = readJson(join(ROOT, 'package-lock.json'))?.packages;
  const present = readJson(join(ROOT, 'node_modules/.package-lock.json'))?.packages;
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(([path, { version, link, optional }]) => {
    if (!path.startsWith('node_modules/')) return true;
    if (link) return existsSync(join(ROOT, path));
    return present[path] === undefined ? optional === true : present[path].version === version;
  });
}

async function install() {
  // Older versions of npm run install scripts of dependencies; we need none (see .npmrc).
  const flags = [
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  try {
    await step('Installing packages (first run only, takes a minute or more)', ...npm('ci', ...flags));
  } catch (error) {
    if (!error.message.includes('in sync')) throw error;
    await step(
      'Installing packages as package.json asks, because the lock file is out of date',
      ...npm('install', '--no-save', ...flags),
    );
  }
}

/** The npm we run under, if any, so that its version and settings apply. */
function npm(...args) {
  const { npm_execpath: script, npm_node_execpath: node = process.execPath } = process.env;
  if (script?.endsWith('.js')) return [node, [script, ...args]];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm', args];
}

/** Node 24 comes as a package; systems without that package use their own. */
export function modernNode() {
  if (!existsSync(join(ROOT, 'node_modules')))
    throw new SetupError(
      'The packages are not installed. Run npm start, which installs them, or npm ci --ignore-scripts.',
    );
  const candidates = [join(ROOT, 'node_modules/.bin/node'), process.execPath];
  const found = candidates.find((path) => existsSync(path) && majorOf(path) >= 24);
  if (found !== undefined) return found;
  throw new SetupError(
    `Postroom runs on Node 24, and npm has no build of it for ${process.platform} ${process.arch}: install Node 24 or later.`,
  );
}

function majorOf(path) {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)/.exec(stdout ?? '')?.[1] ?? 0);
}

/** The inputs of the generated client: every module's tables and the Prisma version. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(ROOT, 'node_modules/prisma/package.json')));
  for (const module of readdirSync(join(ROOT, 'modules')).sort()) {
    const schema = join(ROOT, 'modules', module, 'schema.prisma');
    if (existsSync(schema)) hash.update(readFileSync(schema));
  }
  return hash.digest('hex');
}

function isGenerated() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === fingerprint();
}

/** Prisma generates without its schema engine but still looks for one; any program will do. */
export async function generateClient(node) {
  const before = fingerprint();
  const env = { PRISMA_SCHEMA_ENGINE_BINARY: node, PRISMA_HIDE_UPDATE_MESSAGE: '1', CHECKPOINT_DISABLE: '1' };
  const prisma = join(ROOT, 'node_modules/prisma/build/index.js');
  await step('Generating the database client', node, [prisma, 'generate'], env);
  mkdirSync(GENERATED, { recursive: true });
  writeFileSync(STAMP, before);
}

/** Runs one setup step. Shows its output only if it fails. */
export async function step(title, command, args, env = {}) {
  console.log(`${title} …`);
  const started = Date.now();
  const working = setInterval(() => console.log(`  still running, ${seconds(started)} s`), STILL_WORKING_MS);
  try {
    await run(command, args, env);
  } catch (error) {
    throw new SetupError(`${title} failed: ${error.message}`);
  } finally {
    clearInterval(working);
  }
}

const seconds = (since) => Math.round((Date.now() - since) / 1000);

function run(command, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      // The packages' programs come first on the path, as they do for npm's scripts.
      env: {
        ...process.env,
        PATH: [join(ROOT, 'node_modules/.bin'), process.env.PATH].join(process.platform === 'win32' ? ';' : ':'),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: command.endsWith('.cmd'),
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else
        reject(new Error([`it ended with ${signal ?? `status ${code}`}.`, output.trim()].filter(Boolean).join('\n')));
    });
  });
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
