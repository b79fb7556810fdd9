import { createHmac, randomUUID } from 'node:crypto';
import { config, inTransaction, newId, pool } from '@postroom/platform';
import { type Receiver, eventually, startReceiver, startTestWorker, temporalClient } from '@postroom/testkit';
import { programs } from '@postroom/testkit/programs';
import { createEndpoint, disableEndpoint } from '@postroom/webhooks';
import * as activities from '@postroom/webhooks/activities';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { deliverWebhook, giveUp, retryNow } from '../src/deliver-webhook.ts';

// A separate task queue and worker. It behaves like the real one, but waits a second instead of hours if `isHurried`.
const taskQueue = `test-${randomUUID()}`;
let isHurried = false;
/** The requested delays, in milliseconds. */
let asked: number[] = [];
const deliveryStatus = defineSearchAttributeKey('deliveryStatus', SearchAttributeType.KEYWORD);
const client = await temporalClient();
let native: NativeConnection;
let worker: Worker;
let running: Promise<void>;
let receiver: Receiver;
let statuses: number[] = [];
/** The receiver awaits this before it responds. */
let allowed: Promise<void> | undefined;

beforeAll(async () => {
  await startTestWorker(); // a process has one Temporal runtime, and this is who sets it up
  native = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS });
  worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle: await programs().workflowBundle(),
    activities: { ...activities, attemptDelivery },
  });
  running = worker.run();
});

async function attemptDelivery(id: string) {
  try {
    return await activities.attemptDelivery(id);
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    asked.push(Number(error.nextRetryDelay));
    if (!isHurried) throw error;
    throw ApplicationFailure.create({
      message: error.message,
      type: error.type ?? 'unknown',
      nextRetryDelay: 1_000,
      details: [{ delayMs: 1_000 }],
    });
  }
}

afterAll(async () => {
  worker.shutdown();
  await running;
  await native.close();
});

beforeEach(async () => {
  statuses = [];
  asked = [];
  isHurried = false;
  allowed = undefined;
  receiver = await startReceiver(async (_, response) => {
    await allowed;
    response.writeHead(statuses.shift() ?? 204).end();
  });
});
afterEach(() => receiver.close());

/** A delivery already assigned to its workflow, so that no dispatcher claims it. */
async function start(data: Record<string, unknown> = {}) {
  const projectId = newId('prj');
  await pool.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  const endpoint = await createEndpoint(projectId, { url: receiver.url, events: ['*'] });
  const id = await inTransaction(async (tx) => {
    const event = newId('evt');
    const values = [event, projectId, JSON.stringify(data)];
    await tx.query(`INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'contact.created', $3)`, values);
    const { rows } = await tx.query<{ id: string }>(
      'UPDATE deliveries SET dispatched_at = now(), workflow_id = id WHERE event_id = $1 RETURNING id',
      [event],
    );
    return rows[0]?.id ?? '';
  });
  const handle = await client.workflow.start(deliverWebhook, { workflowId: id, taskQueue, args: [id] });
  return { id, projectId, endpoint, handle };
}

async function row(id: string) {
  const { rows } = await pool.query('SELECT * FROM deliveries WHERE id = $1', [id]);
  return rows[0];
}

const status = async (handle: WorkflowHandle) => (await handle.describe()).typedSearchAttributes.get(deliveryStatus);

/** Waits until the first attempt was not acknowledged and the workflow waits for the second. */
const refusedOnce = (id: string) =>
  eventually(async () => expect(await row(id)).toMatchObject({ state: 'retried', attempt_count: 1 }));

test('after six failed attempts the delivery is failed: fresh signatures, the same bytes, and every attempt on record', async () => {
  isHurried = true;
  statuses = [500, 404, 301, 503, 400, 500];
  const { id, endpoint, handle } = await start({ email: 'ada@example.com' });
  expect(await handle.result()).toBe('failed');
  expect(await row(id)).toMatchObject({ state: 'failed', attempt_count: 6, next_attempt_at: null });
  expect((await row(id)).closed_at).not.toBeNull();

  // About 1 minute, 5 minutes, 30 minutes, 2 hours, then 6 hours: exactly to a tenth more.
  const share = asked.map((ms, n) => ms / 60_000 / ([1, 5, 30, 120, 360][n] ?? 0));
  expect(share).toEqual(Array(5).fill(expect.closeTo(1.05, 1)));
  expect(receiver.received).toHaveLength(6);
  expect(new Set(receiver.received.map(({ raw }) => raw)).size).toBe(1);
  expect(receiver.received.map(({ headers }) => headers['x-webhook-id'])).toEqual(
    [1, 2, 3, 4, 5, 6].map((n) => expect.stringMatching(`^${id}\\.${n}\\.[0-9a-f]{16}$`)),
  );
  const timestamps = new Set<string>();
  for (const { headers, raw } of receiver.received) {
    const timestamp = String(headers['x-webhook-timestamp']);
    const expected = createHmac('sha256', endpoint.secret).update(`${timestamp}.${raw}`).digest('hex');
    expect(headers['x-webhook-signature']).toBe(`t=${timestamp},v1=${expected}`);
    timestamps.add(timestamp);
  }
  expect(timestamps.size).toBeGreaterThan(3);

  const { rows } = await pool.query('SELECT number, status FROM attempts WHERE delivery_id = $1 ORDER BY number', [id]);
  expect(rows).toEqual([500, 404, 301, 503, 400, 500].map((answered, n) => ({ number: n + 1, status: answered })));
  expect(await status(handle)).toBe('failed');

  const history = await handle.fetchHistory();
  expect(history.events?.length).toBeLessThan(30);
  const text = JSON.stringify(history.events, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
  expect(text).toContain(id);
  expect(text).not.toContain('ada@example.com');
});

test('a delivery acknowledged at a later attempt is complete', async () => {
  isHurried = true;
  statuses = [500, 500];
  const { id, handle } = await start();
  expect(await handle.result()).toBe('acknowledged');
  expect(await row(id)).toMatchObject({ state: 'acknowledged', attempt_count: 3, next_attempt_at: null });
  expect(await status(handle)).toBe('acknowledged');
});

test('while a delivery waits, its workflow shows the retry status, the last response and the next attempt', async () => {
  statuses = [503];
  const { id, handle } = await start();
  await refusedOnce(id);
  await eventually(async () => expect(await status(handle)).toBe('retried'));
  const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  expect(metadata.currentDetails).toMatch(/Attempt 1 of 6: HTTP 503[^]*due at \d{4}-/);
  await handle.terminate();
});

test('"retry now" skips the wait before the second and later attempts', async () => {
  statuses = [500, 500];
  const { id, handle } = await start();
  await refusedOnce(id);
  await handle.signal(retryNow);
  await eventually(async () => expect(await row(id)).toMatchObject({ attempt_count: 2 }));
  await handle.signal(retryNow);
  expect(await handle.result()).toBe('acknowledged');
  expect(receiver.received).toHaveLength(3);
});

test('a "retry now" received during an attempt skips the wait after it', async () => {
  const { promise, resolve: allow } = Promise.withResolvers<void>();
  allowed = promise;
  statuses = [500, 500];
  const { handle } = await start();
  await eventually(() => expect(receiver.received).toHaveLength(1));
  await handle.signal(retryNow);
  await eventually(async () => {
    const history = await handle.fetchHistory();
    expect(history.events?.filter(({ workflowExecutionSignaledEventAttributes: said }) => said)).toHaveLength(1);
  });
  allow();
  await eventually(() => expect(receiver.received).toHaveLength(2));
  await handle.signal(retryNow);
  expect(await handle.result()).toBe('acknowledged');
  expect(receiver.received).toHaveLength(3);
});

test('"give up" fails the delivery without another attempt', async () => {
  statuses = [500, 500];
  const { id, handle } = await start();
  await refusedOnce(id);
  await handle.signal(giveUp);
  expect(await handle.result()).toBe('failed');
  expect(await row(id)).toMatchObject({ state: 'failed', attempt_count: 1, next_attempt_at: null });
  expect(receiver.received).toHaveLength(1);
});

test('a workflow that is canceled in the Temporal UI leaves no delivery open', async () => {
  statuses = [500];
  const { id, handle } = await start();
  await refusedOnce(id);
  await handle.cancel();
  await expect(handle.result()).rejects.toBeInstanceOf(WorkflowFailedError);
  expect(await row(id)).toMatchObject({ state: 'failed' });
});

test('a delivery whose endpoint is disabled meanwhile is released and kept', async () => {
  statuses = [500];
  const { id, projectId, endpoint, handle } = await start();
  await refusedOnce(id);
  await disableEndpoint(projectId, endpoint.id, 'By the test.');
  await handle.signal(retryNow);
  expect(await handle.result()).toBe('returned');
  expect(await row(id)).toMatchObject({
    state: 'retried',
    dispatched_at: null,
    workflow_id: null,
    next_attempt_at: null,
    returns: 1,
  });
  expect(receiver.received).toHaveLength(1);
});

test('a delivery that was deleted or belongs to another workflow is not posted', async () => {
  statuses = [500, 500];
  const [deleted, taken] = [await start(), await start()];
  await Promise.all([refusedOnce(deleted.id), refusedOnce(taken.id)]);
  await pool.query('DELETE FROM webhook_endpoints WHERE id = $1', [deleted.endpoint.id]);
  await pool.query(`UPDATE deliveries SET workflow_id = 'batch_another' WHERE id = $1`, [taken.id]);
  for (const { handle } of [deleted, taken]) await handle.signal(retryNow);
  expect(await deleted.handle.result()).toBe('deleted');
  expect(await taken.handle.result()).toBe('returned');
  expect(receiver.received).toHaveLength(2);
});

test('a crash between the POST and its record makes the same attempt again, with a new X-Webhook-Id; one after the record uses none up', async () => {
  isHurried = true;
  const { id, handle } = await start();
  await handle.result();
  // A worker that died before writing leaves no row. The next one makes attempt 1 again, which the receiver sees as a separate attempt.
  await pool.query('DELETE FROM attempts WHERE delivery_id = $1', [id]);
  await pool.query(`UPDATE deliveries SET state = 'queued', attempt_count = 0, closed_at = NULL WHERE id = $1`, [id]);
  await client.workflow.execute(deliverWebhook, { workflowId: id, taskQueue, args: [id] });
  const attemptIds = receiver.received.map(({ headers }) => String(headers['x-webhook-id']));
  expect(attemptIds.map((attemptId) => attemptId.slice(0, `${id}.1.`.length))).toEqual([`${id}.1.`, `${id}.1.`]);
  expect(new Set(attemptIds).size).toBe(2);
  // One that wrote the row but did not report: the workflow retries, and gets the recorded outcome.
  expect(await client.workflow.execute(deliverWebhook, { workflowId: id, taskQueue, args: [id] })).toBe('acknowledged');
  expect(receiver.received).toHaveLength(2);
});
