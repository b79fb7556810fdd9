import { join } from 'node:path';
import { newId, secretColumn } from '@postroom/platform';
import { eventually, killableWorker, type KillableWorker, type Receiver, startReceiver } from '@postroom/testkit';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newSigningSecret } from '@postroom/guarded-client';

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

async function endpoint(url = receiver.url): Promise<{ projectId: string; endpointId: string }> {
  const [projectId, endpointId] = [newId('prj'), newId('whe')];
  await db.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  await db.query(
    `INSERT INTO webhook_endpoints (id, project_id, url, events, secret, updated_at) VALUES ($1, $2, $3, '{*}', $4, now())`,
    [endpointId, projectId, url, secretColumn('webhook_endpoints', 'secret').encrypt(newSigningSecret(), endpointId)],
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

test(
  'kill -9 of the worker amid due retries: none is lost, none uses up another attempt, and only what was in flight arrives twice',
  { timeout: 180_000 },
  async () => {
    const there = await startReceiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 3));
    const { projectId } = await endpoint(there.url);
    const RETRIES = 4_000;
    const CLAIMED = 100;
    await worker.kill(); // the one of the test above would make first attempts
    await db.query(
      `INSERT INTO events (id, project_id, type, data)
       SELECT postroom_id('evt'), $1, 'email.sent', json_build_object('n', n) FROM generate_series(1, $2::int) AS n`,
      [projectId, RETRIES],
    );
    await db.query(
      `UPDATE deliveries SET state = 'retried', attempt_count = 1, next_attempt_at = now() - interval '1 minute' WHERE project_id = $1`,
      [projectId],
    );
    await db.query(
      `INSERT INTO attempts (delivery_id, project_id, number, started_at, duration_ms, headers, status)
       SELECT id, project_id, 1, now() - interval '2 minutes', 5, '{}', 500 FROM deliveries WHERE project_id = $1`,
      [projectId],
    );
    // A dispatcher was killed after it had claimed these, before it started their workflow.
    await db.query(
      `UPDATE deliveries SET dispatched_at = now() - interval '1 minute', workflow_id = 'batch_never_started'
       WHERE id IN (SELECT id FROM deliveries WHERE project_id = $1 LIMIT $2)`,
      [projectId, CLAIMED],
    );
    worker.start();
    let underWay = 0;
    for (const reached of [300, 1_200, 2_400]) {
      await eventually(() => expect(there.received.length).toBeGreaterThan(reached), 60_000);
      await worker.kill();
      underWay += await count(`dispatched_at IS NOT NULL AND state = 'retried'`);
      worker.start();
    }
    await eventually(async () => expect(await count(`state <> 'acknowledged'`)).toBe(0), 90_000);
    expect(new Set(there.received.map(({ event }) => event.id)).size).toBe(RETRIES);
    const duplicates = there.received.length - RETRIES;
    expect(duplicates).toBeLessThanOrEqual(underWay);
    const ids = there.received.map(({ headers }) => String(headers['x-webhook-id']));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^dlv_\w+\.2\.[0-9a-f]{16}$/.test(id))).toEqual([]);
    const { rows } = await db.query(
      'SELECT number, count(*)::int AS attempts FROM attempts WHERE project_id = $1 GROUP BY number ORDER BY number',
      [projectId],
    );
    expect(rows).toEqual([
      { number: 1, attempts: RETRIES },
      { number: 2, attempts: RETRIES },
    ]);
    console.info(`killed 3 times: ${underWay} retries were in flight, ${duplicates} of ${RETRIES} arrived twice`);
    await there.close();
  },
);
