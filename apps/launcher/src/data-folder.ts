import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StartError } from '@postroom/embedded';
import { SHARED_FOLDER } from '@postroom/embedded';
import { isRunning, processId, type ProcessId, signal, waitForEnd } from '@postroom/embedded';

/** Marks a folder as ours. Only marked folders are ever emptied. */
const MARKER = 'README.txt';
const MARKER_LINE = 'This folder holds Postroom data: the database, workflows, keys and logs.';
const MARKER_TEXT = `${MARKER_LINE}
npm start -- --fresh empties it. Keep secret.key with your backups: secrets in the database can't be read without it.
`;
/** Grace period for processes that a killed launcher left behind, before we kill them. */
const LEFTOVER_TIMEOUT_MS = 15_000;
const KILL_TIMEOUT_MS = 5000;

/** Records the process ids of one component while it runs. */
export const runFile = (dataDir: string, name: string) => join(dataDir, 'run', `${name}.json`);
export const logFile = (dataDir: string, name: string) => join(dataDir, 'logs', `${name}.log`);
export const keyFile = (dataDir: string) => join(dataDir, 'secret.key');

/**
 * Prepares the data folder and locks it for this process, after ending anything that a killed launcher left
 * running.
 * @throws StartError if the folder is not ours or can't be used, or another Postroom is running on it.
 */
export async function openDataFolder(dataDir: string, fresh: boolean, say: (line: string) => void): Promise<void> {
  try {
    await prepare(dataDir, fresh, say);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `Can't use ${dataDir} as the data folder: ${(error as Error).message}. Name another with --data.`,
    );
  }
}

async function prepare(dataDir: string, fresh: boolean, say: (line: string) => void): Promise<void> {
  mkdirSync(dirname(dataDir), { recursive: true });
  // Only the owner may read the data folder: it holds the database, keys, and logs.
  process.umask(0o077);
  checkDataFolder(dataDir);
  await endLeftovers(dataDir, say);
  if (fresh) removeData(dataDir);
  // When we run as root, PostgreSQL's own user must be able to traverse this folder.
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  for (const name of ['run', 'logs']) mkdirSync(join(dataDir, name), { recursive: true });
  closeToOthers(dataDir);
  writeFileSync(join(dataDir, MARKER), MARKER_TEXT);
  claim(dataDir);
  if (!existsSync(keyFile(dataDir)))
    writeFileSync(keyFile(dataDir), `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
}

/** @throws StartError if the folder is not ours, or another Postroom is running on it. */
export function checkDataFolder(dataDir: string): void {
  if (!isOurs(dataDir))
    throw new StartError(
      `${dataDir} contains files that are not Postroom's. Use --data to name an empty or new folder.`,
    );
  const running = runningLauncher(dataDir);
  if (running !== undefined) {
    throw new StartError(
      `Postroom is already running on ${dataDir} (process ${running.pid}). Stop it with npm stop -- --data ${dataDir}, or start another with --data and --port-base.`,
    );
  }
}

/** Tightens files that an older version left readable by others. PostgreSQL protects its own folder. */
function closeToOthers(dataDir: string): void {
  for (const entry of readdirSync(dataDir, { withFileTypes: true })) {
    const path = join(dataDir, entry.name);
    if (entry.isFile()) chmodSync(path, 0o600);
    if (!entry.isDirectory() || !['run', 'logs'].includes(entry.name)) continue;
    chmodSync(path, 0o700);
    for (const name of readdirSync(path)) chmodSync(join(path, name), 0o600);
  }
}

/** Releases the folder. */
export function closeDataFolder(dataDir: string): void {
  rmSync(runFile(dataDir, 'launcher'), { force: true });
}

/** The launcher running on this folder. */
export function runningLauncher(dataDir: string): ProcessId | undefined {
  return readIds(runFile(dataDir, 'launcher')).find(isRunning);
}

/** Waits for processes that a killed launcher started; they end by themselves. Kills those that don't. */
export async function endLeftovers(dataDir: string, say: (line: string) => void): Promise<void> {
  const folder = join(dataDir, 'run');
  const files = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const left = files.flatMap(readIds).filter(isRunning);
  if (left.length > 0) say('Waiting for processes of the previous run to stop …');
  const stubborn = await waitForEnd(left, LEFTOVER_TIMEOUT_MS);
  for (const { pid } of stubborn) signal(pid, 'SIGKILL');
  await waitForEnd(stubborn, KILL_TIMEOUT_MS);
  for (const file of files) rmSync(file, { force: true });
}

function isOurs(dataDir: string): boolean {
  if (!existsSync(dataDir)) return true;
  if (readdirSync(dataDir).length === 0) return true;
  const marker = join(dataDir, MARKER);
  return existsSync(marker) && readFileSync(marker, 'utf8').startsWith(MARKER_LINE);
}

function removeData(dataDir: string): void {
  const database = join(dataDir, 'postgres');
  const kept = existsSync(database) ? realpathSync(database) : database;
  if (kept.startsWith(`${SHARED_FOLDER}/`)) rmSync(kept, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

/** Exclusive creation: if two launchers start at once, only one gets the file. */
function claim(dataDir: string): void {
  try {
    writeFileSync(runFile(dataDir, 'launcher'), JSON.stringify([processId(process.pid)]), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new StartError(`Another Postroom is starting on ${dataDir}.`);
  }
}

function readIds(file: string): ProcessId[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessId[];
  } catch {
    return [];
  }
}
