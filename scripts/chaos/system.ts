import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@postroom/embedded';
import { runFile } from '@postroom/launcher';
import pg from 'pg';

const ROOT = join(import.meta.dirname, '../..');

/** The components to kill; each is a separate process. */
export const PARTS = ['worker', 'gateway', 'temporal', 'postgres'] as const;
export type Part = (typeof PARTS)[number];

/** Everything that `npm start` starts, with separate ports and data folder. */
export interface System {
  url: string;
  key: string;
  projectId: string;
  dataDir: string;
  pool: pg.Pool;
  /** Sends SIGKILL to the component's process; waits for one that is being restarted. */
  kill: (part: Part) => Promise<void>;
  stop: (options: { keep: boolean }) => Promise<void>;
}

/** Starts the launcher as a user does; mail goes to `smtpUrl`. It exits with this process, even if that is killed. */
export async function startSystem(smtpUrl: string, say: (line: string) => void): Promise<System> {
  const dataDir = mkdtempSync(join(tmpdir(), 'postroom-chaos-'));
  chmodSync(dataDir, 0o711); // for PostgreSQL's own user, when root runs this
  const [base = 0] = await freePorts(6);
  const { DATABASE_URL: _database, TEMPORAL_ADDRESS: _temporal, ...env } = process.env;
  const launcher = spawn(
    process.execPath,
    [join(ROOT, 'apps/launcher/src/main.ts'), '--data', dataDir, '--port-base', String(base)],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
      env: { ...env, NODE_ENV: 'development', SMTP_URL: smtpUrl, RATE_LIMIT_PER_SECOND: '100000' },
    },
  );
  await untilStarted(launcher, say);
  const dev = JSON.parse(readFileSync(join(dataDir, 'dev.json'), 'utf8')) as {
    url: string;
    databaseUrl: string;
    keys: { full: string };
    projects: { id: string }[];
  };
  const pool = new pg.Pool({ connectionString: dev.databaseUrl, max: 4, connectionTimeoutMillis: 5_000 });
  pool.on('error', () => {}); // the database is killed at times
  return {
    url: dev.url,
    key: dev.keys.full,
    projectId: dev.projects[0]?.id ?? '',
    dataDir,
    pool,
    kill: (part) => kill(dataDir, part),
    stop: async ({ keep }) => {
      await pool.end();
      await end(launcher);
      if (!keep) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Shows the launcher's restart messages once everything runs. */
function untilStarted(launcher: ChildProcess, say: (line: string) => void): Promise<void> {
  const words: string[] = [];
  let running = false;
  return new Promise((resolve, reject) => {
    for (const stream of [launcher.stdout!, launcher.stderr!])
      createInterface({ input: stream }).on('line', (line) => {
        words.push(line);
        if (running && /; restarting$| is back after /.test(line)) say(line);
        if (!line.startsWith('Started in ')) return;
        running = true;
        resolve();
      });
    launcher.once('error', reject);
    launcher.once('exit', () => reject(new Error(`The system did not start:\n${words.slice(-10).join('\n')}`)));
  });
}

const RUNNING_WITHIN_MS = 120_000;

/** A component under a process guard has two processes in its file; the second one is killed. */
async function kill(dataDir: string, part: Part): Promise<void> {
  for (const deadline = Date.now() + RUNNING_WITHIN_MS; ; await sleep(50)) {
    try {
      const processes = JSON.parse(readFileSync(runFile(dataDir, part), 'utf8')) as { pid: number }[];
      const isKept = part === 'temporal' || part === 'postgres';
      const pid = processes[isKept ? 1 : 0]?.pid;
      if (pid !== undefined) return void process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

function end(launcher: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (launcher.exitCode !== null || launcher.signalCode !== null) return resolve();
    launcher.once('exit', () => resolve());
    launcher.kill('SIGTERM');
  });
}
