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
import { join } from 'node:path';
import { StartError } from '@postroom/embedded';
import { SHARED_FOLDER } from '@postroom/embedded';
import { isRunning, processId, type ProcessId, signal, waitForEnd } from '@postroom/embedded';

/** A folder with this file in it is ours, and only such a one is ever emptied. */
const MARKER = 'README.txt';
const MARKER_LINE = 'This folder holds the data of a Postroom: its database, workflows, keys and logs.';
const MARKER_TEXT = `${MARKER_LINE}
npm start -- --fresh empties it. Keep secret.key with your backups: secrets in the database can't be read without it.
`;
/** How long what a killed launcher started may take to end by itself before it is killed too. */
const LEFTOVER_TIMEOUT_MS = 15_000;
const KILL_TIMEOUT_MS = 5000;

/** The file of the process ids of a part while it runs. */
export const runFile = (dataDir: string, name: string) => join(dataDir, 'run', `${name}.json`);
export const logFile = (dataDir: string, name: string) => join(dataDir, 'logs', `${name}.log`);
export const keyFile = (dataDir: string) => join(dataDir, 'secret.key');

/**
 * Makes the data folder ready and claims it for this process; what a killed launcher left running is ended first.
 * @throws StartError when it is not ours, or when another Postroom runs on it.
 */
export async function openDataFolder(dataDir: string, fresh: boolean, say: (line: string) => void): Promise<void> {
  if (!isOurs(dataDir))
    throw new StartError(`${dataDir} holds other things than Postroom's: name an empty or a new folder with --data.`);
  const running = runningLauncher(dataDir);
  if (running !== undefined) {
    throw new StartError(
      `Postroom already runs on ${dataDir} (process ${running.pid}): end it with npm stop, or start another with --data and --port-base.`,
    );
  }
  await endLeftovers(dataDir, say);
  if (fresh) removeData(dataDir);
  // As root, PostgreSQL's own user must be able to pass through.
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  for (const name of ['run', 'logs']) mkdirSync(join(dataDir, name), { recursive: true });
  closeToOthers(dataDir);
  writeFileSync(join(dataDir, MARKER), MARKER_TEXT);
  claim(dataDir);
  if (!existsSync(keyFile(dataDir)))
    writeFileSync(keyFile(dataDir), `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
}

/** Files of a version that left them open to others. The database's folder is PostgreSQL's own, which keeps others out of it. */
function closeToOthers(dataDir: string): void {
  for (const entry of readdirSync(dataDir, { withFileTypes: true })) {
    const path = join(dataDir, entry.name);
    if (entry.isFile()) chmodSync(path, 0o600);
    if (!entry.isDirectory() || !['run', 'logs'].includes(entry.name)) continue;
    chmodSync(path, 0o700);
    for (const name of readdirSync(path)) chmodSync(join(path, name), 0o600);
  }
}

/** Gives the folder back. */
export function closeDataFolder(dataDir: string): void {
  rmSync(runFile(dataDir, 'launcher'), { force: true });
}

/** The launcher that runs on this folder. */
export function runningLauncher(dataDir: string): ProcessId | undefined {
  return readIds(runFile(dataDir, 'launcher')).find(isRunning);
}

/** Waits for what a killed launcher started to end, as it does by itself; kills what does not. */
export async function endLeftovers(dataDir: string, say: (line: string) => void): Promise<void> {
  const folder = join(dataDir, 'run');
  const files = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const left = files.flatMap(readIds).filter(isRunning);
  if (left.length > 0) say('Waiting for what the last run left behind to end …');
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

/** Of two that start at the same moment, one gets the file. */
function claim(dataDir: string): void {
  try {
    writeFileSync(runFile(dataDir, 'launcher'), JSON.stringify([processId(process.pid)]), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new StartError(`Another Postroom is just starting on ${dataDir}.`);
  }
}

function readIds(file: string): ProcessId[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessId[];
  } catch {
    return [];
  }
}
