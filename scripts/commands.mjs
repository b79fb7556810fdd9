// The commands of `postroom`. Programs run on Node 24, which comes as a package (see setup.mjs).
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { fail, modernNode, ROOT, setUp, SetupError } from './setup.mjs';

/**
 * By command: the program, relative to the repository, and how it is run. `installs` prepares what is missing first; others
 * expect an installation, as production has, and start without building anything.
 */
const PROGRAMS = {
  start: { program: 'apps/launcher/src/main.ts', installs: true },
  stop: { program: 'apps/launcher/src/stop.ts' },
  demo: { program: 'scripts/demo/main.ts', installs: true },
  migrate: { program: 'scripts/migrate.ts' },
  bootstrap: { program: 'scripts/bootstrap.ts' },
  gateway: { program: 'apps/gateway/src/main.ts' },
  worker: { program: 'apps/worker/src/main.ts' },
  'promote-worker': { program: 'apps/worker/src/promote.ts' },
  submission: { program: 'apps/submission/src/main.ts' },
  bounces: { program: 'apps/bounces/src/main.ts' },
  journeys: { program: 'scripts/journeys/main.ts' },
  mcp: { program: 'apps/mcp/src/main.ts' },
  doctor: { program: 'scripts/doctor/main.ts', environment: runningSystem },
  capacity: { program: 'scripts/capacity/main.ts' },
  'after-restore': { program: 'apps/worker/src/after-restore.ts', environment: runningSystemRequired },
  'delete-project': { program: 'apps/worker/src/delete-project.ts', environment: runningSystemRequired },
  'move-project': { program: 'apps/worker/src/move/main.ts', environment: runningSystemRequired },
  operator: { program: 'apps/gateway/src/operator.ts', environment: runningSystemRequired },
  'rotate-encryption-key': { program: 'apps/gateway/src/rotate-encryption-key.ts', environment: runningSystemRequired },
  chaos: { program: 'scripts/chaos/main.ts', installs: true },
};

/** Runs a command and exits with its status. */
export async function run(command, args) {
  try {
    const { program = '', installs = false, environment } = PROGRAMS[command] ?? {};
    const asksForHelp = args.includes('--help') || args.includes('-h');
    if (command === 'start' && !asksForHelp) {
      const { start } = await import('./start.mjs');
      return await start(args);
    }
    if (command === 'dev') {
      const { dev } = await import('./dev.mjs');
      return await dev(args);
    }
    const node = installs && !asksForHelp ? await setUp() : modernNode();
    const env = environment === undefined || asksForHelp ? process.env : environment(args);
    await runProgram(node, join(ROOT, program), args, env);
  } catch (error) {
    fail(error);
  }
}

async function runProgram(node, program, args, env) {
  if (!existsSync(program))
    throw new SetupError('This command needs a clone of the repository; an image has no such program.');
  // In a container this is Node 24 already, and a second process would take 40 MB.
  if (node === process.execPath) {
    Object.assign(process.env, env);
    process.argv.splice(1, process.argv.length, program, ...args);
    await import(pathToFileURL(program).href);
    return;
  }
  // The IPC channel tells the program when this process exits.
  const child = spawn(node, [program, ...args], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
  // A terminal's Ctrl-C also reaches the program, in the same process group; it shuts down, then this process
  // exits.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', fail);
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

/** The environment, with the database and keys of the Postroom running on `--data` unless DATABASE_URL is set. */
function runningSystem(args) {
  if (isSet('DATABASE_URL')) return process.env;
  const { dataDir, dev } = readDevFile(args);
  if (dev === undefined || dev.pid === null) return process.env;
  const { POSTROOM_KEY_FILE = join(dataDir, 'secret.key') } = process.env;
  const gatewayPort = Number(new URL(dev.url).port);
  return {
    // The same values that the launcher passes to its programs (apps/launcher/src/settings.ts); explicit settings
    // take precedence.
    NODE_ENV: 'development',
    PUBLIC_URL: dev.url,
    GATEWAY_PORT: String(gatewayPort),
    TEMPORAL_ADDRESS: `127.0.0.1:${gatewayPort + 1}`,
    ...(isSet('SMTP_URL') ? {} : { SMTP_URL: `smtp://127.0.0.1:${dev.smtpPort}` }),
    ...process.env,
    DATABASE_URL: dev.databaseUrl,
    ...(isSet('POSTROOM_SECRET_KEY') ? {} : { POSTROOM_KEY_FILE }),
  };
}

/** Whether a secret is given, as a value or as a file. */
const isSet = (name) => Boolean(process.env[name] || process.env[`${name}_FILE`]);

function runningSystemRequired(args) {
  const env = runningSystem(args);
  if (env.DATABASE_URL || env.DATABASE_URL_FILE) return env;
  throw new SetupError(`Postroom is not running on ${readDevFile(args).dataDir}. Start it first, or set DATABASE_URL.`);
}

function readDevFile(args) {
  const { values } = parseArgs({ args, options: { data: { type: 'string' } }, strict: false });
  const dataDir = resolve(process.env.INIT_CWD ?? process.cwd(), values.data ?? join(ROOT, '.postroom'));
  try {
    return { dataDir, dev: JSON.parse(readFileSync(join(dataDir, 'dev.json'), 'utf8')) };
  } catch {
    return { dataDir, dev: undefined };
  }
}
