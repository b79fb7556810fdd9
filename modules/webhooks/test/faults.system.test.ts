import { join } from 'node:path';
import { newId, secretColumn } from '@postroom/platform';
import { eventually, killableWorker, type KillableWorker, type Receiver, startReceiver } from '@postroom/testkit';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newSigningSecret } from '../src/signature.ts';

let worker: KillableWorker;
let db: pg.Client;
let receiver: Receiver;

beforeAll(async () => {
  worker = await killableWorker(join(import.meta.dirname, 'faults.worker.ts'));
  ({ db } = worker);
  receiver = await startReceiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 3));
});

afterAll(async () => {
  await worker.close();
  await receiver.close();
});

async function endpoint(): Promise<{ projectId: string; endpointId: string }> {
  const [projectId, endpointId] = [newId('prj'), newId('whe')];
  await db.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  await db.query(
    `INSERT INTO webhook_endpoints (id, project_id, url, events, secret, updated_at) VALUES ($1, $2, $3, '{*}', $4, now())`,
    [
      endpointId,
      projectId,
      receiver.url,
      secretColumn('webhook_endpoints', 'secret').encrypt(newSigningSecret(), endpointId),
    ],
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
    worker.start();
    await db.query(
      `INSERT INTO events (id, project_id, type, data)
     SELECT postroom_id('evt'), $1, 'email.sent', json_build_object('n', n) FROM generate_series(1, $2::int) AS n`,
      [projectId, EVENTS],
    );
    let underWay = 0;
    for (const reached of [500, 1_500, 3_000]) {
      await eventually(() => expect(receiver.received.length).toBeGreaterThan(reached), 60_000);
      await worker.kill();
      underWay += await count(`dispatched_at IS NOT NULL AND state = 'queued'`);
      worker.start();
    }
    await eventually(async () => expect(await count(`state <> 'acknowledged'`)).toBe(0), 90_000);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(EVENTS);
    const duplicates = receiver.received.length - EVENTS;
    expect(duplicates).toBeLessThanOrEqual(underWay);
    const { rows } = await db.query('SELECT count(*)::int AS attempts, max(number) AS highest FROM attempts');
    expect(rows).toEqual([{ attempts: EVENTS, highest: 1 }]); // a crash never uses an attempt up
    console.info(`killed 3 times: ${underWay} deliveries were in flight, ${duplicates} of ${EVENTS} arrived twice`);
  },
);
