import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isFree } from '../../packages/embedded/src/ports.ts';
import { dim, say } from './print.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Data folder of the system that the demo starts itself. */
const OWN_DATA_DIR = join(ROOT, '.postroom-demo');
const DEFAULT_DATA_DIR = join(ROOT, '.postroom');

/** The fields of `dev.json`, written by `npm start`, that the demo reads. */
export interface System {
  url: string;
  temporalUiUrl: string | null;
  inboxUrl: string;
  projects: { id: string; name: string }[];
  keys: { full?: string };
  /** The dashboard owner's credentials. */
  owner: { email: string; password: string };
  /** Stops the system if the demo started it; otherwise does nothing. */
  stop: () => Promise<void>;
  /** Options that start it again on the same data; `undefined` if it was already running. */
  startedWith?: string;
}

/** The running system, or one started for this run. */
export async function findSystem(dataDir: string | undefined, stopped: AbortSignal): Promise<System> {
  const running = await runningSystem(dataDir ?? DEFAULT_DATA_DIR);
  if (running !== undefined) return { ...running, stop: async () => {} };
  return startSystem(dataDir ?? OWN_DATA_DIR, stopped);
}

/** The system in dev.json, if it responds. */
async function runningSystem(dataDir: string) {
  const file = join(dataDir, 'dev.json');
  if (!existsSync(file)) return undefined;
  const system = JSON.parse(readFileSync(file, 'utf8')) as Omit<System, 'stop'>;
  return (await isReady(system.url)) ? system : undefined;
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** The system needs six consecutive ports; other demos or programs may hold some. */
const PORT_BASES = Array.from({ length: 40 }, (_, index) => 3440 + index * 10);
const PORTS = 6;

async function freePortBase(): Promise<number> {
  for (const base of PORT_BASES) {
    const free = await Promise.all(Array.from({ length: PORTS }, (_, index) => isFree(base + index)));
    if (free.every(Boolean)) return base;
  }
  throw new Error(`Found no ${PORTS} consecutive free ports starting at ${PORT_BASES[0]}.`);
}

async function startSystem(dataDir: string, stopped: AbortSignal): Promise<System> {
  const base = await freePortBase();
  const options = ['--data', dataDir, '--port-base', String(base)];
  say('System', 'not running; starting one for this demo');
  const launcher = startLauncher(options, (line, isRunning) => {
    const isWorthShowing = isRunning ? line.trim() !== '' && line !== 'Stopped.' : /…$|^ {2}still|migration/.test(line);
    if (isWorthShowing) say('', dim(line));
  });
  const { stop } = launcher;
  const stopStarting = () => void stop();
  stopped.addEventListener('abort', stopStarting);
  await launcher.started;
  stopped.removeEventListener('abort', stopStarting);
  const system = await runningSystem(dataDir);
  if (system === undefined) {
    await stop();
    throw new Error('The system started but does not respond.');
  }
  return { ...system, stop, startedWith: options.join(' ') };
}

/** The last line that the launcher prints once everything runs. */
const STARTED = /^Started in /;
/** Lines of its output that an error contains. */
const LAST_LINES = 10;

/**
 * Runs what `npm start` does. It has its own process group, so that Ctrl-C reaches it once, through `stop`, and the IPC channel stops it
 * if this process is killed. `show` gets each line of its output, and whether everything runs by then.
 */
export function startLauncher(
  options: readonly string[],
  show: (line: string, isRunning: boolean) => void,
  env: NodeJS.ProcessEnv = process.env,
): { started: Promise<void>; stop: () => Promise<void> } {
  const launcher = spawn(process.execPath, [join(ROOT, 'apps/launcher/src/main.ts'), ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
    env,
  });
  const last: string[] = [];
  let isRunning = false;
  const started = new Promise<void>((resolve, reject) => {
    for (const stream of [launcher.stdout!, launcher.stderr!])
      createInterface({ input: stream }).on('line', (line) => {
        last.push(line);
        if (last.length > LAST_LINES) last.shift();
        show(line, isRunning);
        if (!STARTED.test(line)) return;
        isRunning = true;
        resolve();
      });
    launcher.once('error', reject);
    launcher.once('exit', () => reject(new Error(`The system did not start.\n${last.join('\n')}`)));
  });
  return { started, stop: () => end(launcher) };
}

function end(launcher: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (launcher.exitCode !== null || launcher.signalCode !== null) return resolve();
    launcher.once('exit', () => resolve());
    launcher.kill('SIGTERM');
  });
}
