import { type ChildProcess, fork } from 'node:child_process';
import { COMPILED } from '@postroom/embedded';
import pg from 'pg';
import { createDatabase } from './database.ts';

/** A worker that tests can kill, with its own database and task queue, so that no other worker sees its work. */
export interface KillableWorker {
  db: pg.Client;
  /** Of its database. */
  databaseUrl: string;
  /** The process, while it runs. */
  process: ChildProcess | undefined;
  /** With these settings on top of the default ones. */
  start: (env?: Record<string, string>) => void;
  /** kill -9, as in a machine failure. */
  kill: () => Promise<void>;
  /** Kills it and drops its database. */
  close: () => Promise<void>;
}

/** Makes the database; `program` is the file that the worker runs, with these flags of Node's. */
export async function killableWorker(program: string, flags: string[] = []): Promise<KillableWorker> {
  const database = await createDatabase('killed');
  const db = new pg.Client({ connectionString: database.url });
  await db.connect();
  const worker: KillableWorker = {
    db,
    databaseUrl: database.url,
    process: undefined,
    start: (env = {}) => {
      worker.process = fork(program, {
        env: { ...COMPILED, ...process.env, DATABASE_URL: database.url, TEMPORAL_TASK_QUEUE: database.name, ...env },
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
      await database.drop();
    },
  };
  return worker;
}
