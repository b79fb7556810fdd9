import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { config } from '@postroom/platform';
import { migrate } from '@postroom/platform/migrate';
import pg from 'pg';

/** A worker that tests can kill, with its own database and task queue, so that no other worker sees its work. */
export interface KillableWorker {
  db: pg.Client;
  /** Of its database. */
  databaseUrl: string;
  /** The process, while it runs. */
  process: ChildProcess | undefined;
  /** With these settings beside or instead of those it has from here. */
  start: (env?: Record<string, string>) => void;
  /** kill -9, as in a machine failure. */
  kill: () => Promise<void>;
  /** Kills it and drops its database. */
  close: () => Promise<void>;
}

/** Makes the database; `program` is the file that the worker runs, with these flags of Node's. */
export async function killableWorker(program: string, flags: string[] = []): Promise<KillableWorker> {
  const name = `killed_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(config.DATABASE_URL ?? '');
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  url.pathname = `/${name}`;
  await migrate(url.href);
  const db = new pg.Client({ connectionString: url.href });
  await db.connect();
  const worker: KillableWorker = {
    db,
    databaseUrl: url.href,
    process: undefined,
    start: (env = {}) => {
      worker.process = fork(program, {
        env: { ...process.env, DATABASE_URL: url.href, TEMPORAL_TASK_QUEUE: name, ...env },
        execArgv: flags,
      });
    },
    kill: async () => {
      const killed = worker.process;
      worker.process = undefined;
      if (killed === undefined) return;
      const ended = new Promise((resolve) => killed.once('exit', resolve));
      killed.kill('SIGKILL');
      await ended;
    },
    close: async () => {
      await worker.kill();
      await db.end();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
  return worker;
}
