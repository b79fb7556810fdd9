import { type ChildProcess, fork } from 'node:child_process';
import pg from 'pg';
import { createDatabase } from './database.ts';
import { NODE_FLAGS } from './node-flags.ts';
import { programs } from './programs.ts';

/** A worker that tests can kill, with its own database and task queue, so that no other worker sees its work. */
export interface KillableWorker {
  db: pg.Client;
  /** URL of its database. */
  databaseUrl: string;
  /** The process, while it runs. */
  process: ChildProcess | undefined;
  /** Starts the worker; `env` overrides the default settings. */
  start: (env?: Record<string, string>) => void;
  /** Sends SIGKILL, as in a machine failure, and waits for the exit. */
  kill: () => Promise<void>;
  /** Kills it and drops its database. */
  close: () => Promise<void>;
}

/**
 * Creates the database. `program` is the worker's entry point, which finds the path of the bundle of all workflows in
 * WORKFLOW_BUNDLE; `flags` are for Node.
 */
export async function killableWorker(program: string, flags: string[] = []): Promise<KillableWorker> {
  const database = await createDatabase('killed');
  const db = new pg.Client({ connectionString: database.url });
  await db.connect();
  const { codePath } = await programs().workflowBundle();
  const worker: KillableWorker = {
    db,
    databaseUrl: database.url,
    process: undefined,
    start: (env = {}) => {
      // Nobody would end the one that runs.
      if (worker.process !== undefined) throw new Error('The worker runs already.');
      worker.process = fork(program, {
        env: {
          ...process.env,
          DATABASE_URL: database.url,
          TEMPORAL_TASK_QUEUE: database.name,
          WORKFLOW_BUNDLE: codePath,
          ...env,
        },
        execArgv: [...NODE_FLAGS, ...flags],
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
