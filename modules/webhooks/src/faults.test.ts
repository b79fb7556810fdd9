import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { config, encryptSecret, newId } from '@postroom/platform';
import { migrate } from '@postroom/platform/migrate';
import { eventually, type Receiver, startReceiver } from '@postroom/testkit';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newSigningSecret } from './signature.ts';

// A database and a task queue of their own: only the workers of this file, which it kills, see the deliveries.
const database = `faults_${randomUUID().replaceAll('-', '')}`;
const databaseUrl = new URL(config.DATABASE_URL ?? '');
let admin: pg.Client;
let db: pg.Client;
let worker: ChildProcess | undefined;
let receiver: Receiver;

beforeAll(async () => {
  admin = new pg.Client({ connectionString: databaseUrl.href });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${database}`);
  databaseUrl.pathname = `/${database}`;
  await migrate(databaseUrl.href);
  db = new pg.Client({ connectionString: databaseUrl.href });
  await db.connect();
  receiver = await startReceiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 3));
});

afterAll(async () => {
  await kill();
  await receiver.close();
  await db.end();
  await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
  await admin.end();
});

function start(): void {
  worker = fork(join(import.meta.dirname, 'faults.worker.ts'), {
    env: { ...process.env, DATABASE_URL: databaseUrl.href, TEMPORAL_TASK_QUEUE: database },
    execArgv: [],
  });
}

/** kill -9, as a machine that fails does it. */
async function kill(): Promise<void> {
  const killed = worker;
  worker = undefined;
  if (killed === undefined) return;
  const ended = new Promise((resolve) => killed.once('exit', resolve));
  killed.kill('SIGKILL');
  await ended;
}

async function endpoint(): Promise<{ projectId: string; endpointId: string }> {
  const [projectId, endpointId] = [newId('prj'), newId('whe')];
  await db.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  await db.query(
    `INSERT INTO webhook_endpoints (id, project_id, url, events, secret, updated_at) VALUES ($1, $2, $3, '{*}', $4, now())`,
    [endpointId, projectId, receiver.url, encryptSecret(newSigningSecret(), endpointId)],
  );
  return { projectId, endpointId };
}

const count = async (where: string) =>
  Number((await db.query(`SELECT count(*) FROM deliveries WHERE ${where}`)).rows[0].count);

test(
  'kill -9 of the worker in a burst: each event arrives, and only what was under way arrives twice',
  { timeout: 180_000 },
  async () => {
    const { projectId } = await endpoint();
    const EVENTS = 5_000;
    start();
    await db.query(
      `INSERT INTO events (id, project_id, type, data)
     SELECT postroom_id('evt'), $1, 'email.sent', json_build_object('n', n) FROM generate_series(1, $2::int) AS n`,
      [projectId, EVENTS],
    );
    let underWay = 0;
    for (const reached of [500, 1_500, 3_000]) {
      await eventually(() => expect(receiver.received.length).toBeGreaterThan(reached), 60_000);
      await kill();
      underWay += await count(`handed_at IS NOT NULL AND state = 'queued'`);
      start();
    }
    await eventually(async () => expect(await count(`state <> 'acknowledged'`)).toBe(0), 90_000);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(EVENTS);
    const duplicates = receiver.received.length - EVENTS;
    expect(duplicates).toBeLessThanOrEqual(underWay);
    const { rows } = await db.query('SELECT count(*)::int AS attempts, max(number) AS highest FROM attempts');
    expect(rows).toEqual([{ attempts: EVENTS, highest: 1 }]); // a crash never uses an attempt up
    console.info(`killed 3 times: ${underWay} deliveries were in hand, ${duplicates} of ${EVENTS} arrived twice`);
  },
);
