import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@postroom/embedded';
import { runFile } from '@postroom/launcher';
import pg from 'pg';
import { startLauncher } from '../demo/system.ts';

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
  const launcher = startLauncher(
    ['--data', dataDir, '--port-base', String(base)],
    (line, isRunning) => {
      if (isRunning && /; restarting$| is back after /.test(line)) say(line);
    },
    { ...env, NODE_ENV: 'development', SMTP_URL: smtpUrl, RATE_LIMIT_PER_SECOND: '100000' },
  );
  await launcher.started;
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
      await launcher.stop();
      if (!keep) rmSync(dataDir, { recursive: true, force: true });
    },
  };
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
