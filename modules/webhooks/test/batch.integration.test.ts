import { inTransaction, newId, pool } from '@postroom/platform';
import { eventually, type Receiver, startReceiver } from '@postroom/testkit';
import { checkPlans } from '@postroom/testkit/plans';
import { afterEach, expect, test, vi } from 'vitest';
import { noResponse } from '@postroom/guarded-client';
import { loadDeliveries, recordAttempt, splitBatch } from '../src/attempts.ts';
import { runBatch } from '../src/batch.ts';
import { createEndpoint } from '../src/endpoints.ts';
import { ALL_DELIVERIES, claimFirstAttempts, claimInTurn, claimRetries } from '../src/queue.ts';
import { startsOf } from '../src/starts.ts';

checkPlans();

const receivers: Receiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

/** Deliveries to one endpoint, claimed by a batch so that no dispatcher takes them. */
async function marked(count: number, answer: Parameters<typeof startReceiver>[0], breakIt = '') {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  const projectId = newId('prj');
  await pool.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  const { id } = await createEndpoint(projectId, { url: receiver.url, events: ['*'] });
  const ids = await inTransaction(async (tx) => {
    await tx.query(
      `INSERT INTO events (id, project_id, type, data)
       SELECT postroom_id('evt'), $1, 'contact.created', '{}' FROM generate_series(1, $2)`,
      [projectId, count],
    );
    const { rows } = await tx.query<{ id: string }>(
      `UPDATE deliveries SET dispatched_at = now(), workflow_id = 'batch_test' WHERE project_id = $1 RETURNING id`,
      [projectId],
    );
    return rows.map((row) => row.id);
  });
  // Requeued deliveries stay in the table for the test to see: dispatchers skip disabled endpoints.
  await pool.query(`UPDATE webhook_endpoints SET enabled = false ${breakIt} WHERE id = $1`, [id]);
  return { receiver, deliveries: (await loadDeliveries(ids)).map((one) => ({ ...one, enabled: true })) };
}

const going = new AbortController().signal;

async function states(deliveries: { id: string }[]) {
  const { rows } = await pool.query<{ state: string; waits: boolean; count: number }>(
    `SELECT state, dispatched_at IS NULL AS waits, count(*)::int FROM deliveries WHERE id = ANY ($1) GROUP BY 1, 2 ORDER BY state`,
    [deliveries.map(({ id }) => id)],
  );
  return rows;
}

test('a failing endpoint is dropped after ten attempts, and its other deliveries are requeued unattempted', async () => {
  const { receiver, deliveries } = await marked(60, (_, response) => void response.writeHead(500).end());
  expect(await runBatch(deliveries, going)).toMatchObject({ acknowledged: 0, retried: 10, returned: 50 });
  expect(receiver.received).toHaveLength(10);
  expect(await states(deliveries)).toEqual([
    { state: 'queued', waits: true, count: 50 },
    { state: 'retried', waits: true, count: 10 },
  ]);
});

test('the outcome names what was not acknowledged and what was not attempted', async () => {
  const { deliveries } = await marked(60, (_, response) => void response.writeHead(500).end());
  const { retriedIds = [], returnedIds = [] } = await runBatch(deliveries, going);
  expect([retriedIds.length, returnedIds.length]).toEqual([10, 50]);
  expect([...retriedIds, ...returnedIds].toSorted()).toEqual(deliveries.map(({ id }) => id).toSorted());
});

test('attempts of a project that end at once are recorded in a few statements', async () => {
  const { deliveries } = await marked(50, () => {});
  const response = noResponse('No complete response within 10 seconds.');
  const attempts = deliveries.map((delivery) => {
    return { delivery, number: 1, headers: {}, startedAt: new Date(), response, acknowledged: false, delayMs: 60_000 };
  });
  const query = vi.spyOn(pool, 'query');
  await Promise.all(attempts.map(recordAttempt));
  const names = query.mock.calls.map(([statement]) => (statement as { name?: string }).name);
  query.mockRestore();
  expect(names.filter((name) => name === 'webhooks-record').length).toBeLessThanOrEqual(2);
  expect(await states(deliveries)).toEqual([{ state: 'retried', waits: false, count: 50 }]);
});

test('one failure among many does not affect the others', async () => {
  const { deliveries } = await marked(
    60,
    (_, response, count) => void response.writeHead(count % 7 === 0 ? 500 : 204).end(),
  );
  expect(await runBatch(deliveries, going)).toMatchObject({ acknowledged: 52, retried: 8, returned: 0 });
  expect(await states(deliveries)).toEqual([
    { state: 'retried', waits: true, count: 8 },
    { state: 'acknowledged', waits: false, count: 52 },
  ]);
  const ids = deliveries.map(({ id }) => id);
  const { rows } = await pool.query('SELECT DISTINCT workflow_id FROM attempts WHERE delivery_id = ANY ($1)', [ids]);
  expect(rows).toEqual([{ workflow_id: 'batch_test' }]); // which those that wait for a retry have no more
});

test('a hanging endpoint does not delay others in the same batch', async () => {
  const hanging = await marked(20, () => {});
  const well = await marked(20, (_, response) => void response.writeHead(204).end());
  const batch = runBatch([...hanging.deliveries, ...well.deliveries], going);
  const acknowledged = eventually(async () =>
    expect(await states(well.deliveries)).toEqual([{ state: 'acknowledged', waits: false, count: 20 }]),
  );
  expect(await Promise.race([acknowledged.then(() => 'well'), batch.then(() => 'all')])).toBe('well');
  expect(hanging.receiver.received).toHaveLength(10);
  expect(await batch).toMatchObject({ acknowledged: 20, retried: 10, returned: 10 });
});

test('a canceled batch starts no POST and requeues what it has not started', async () => {
  const { receiver, deliveries } = await marked(5, (_, response) => void response.writeHead(204).end());
  expect(await runBatch(deliveries, AbortSignal.abort())).toMatchObject({ acknowledged: 0, retried: 0, returned: 5 });
  expect(receiver.received).toHaveLength(0);
});

test('an endpoint whose secret cannot be decrypted does not affect others', async () => {
  const broken = await marked(3, (_, response) => void response.writeHead(204).end(), `, secret = 'v1:AAAA'`);
  const well = await marked(3, (_, response) => void response.writeHead(204).end());
  const all = [...broken.deliveries, ...well.deliveries];
  expect(await runBatch(all, going)).toMatchObject({ acknowledged: 3, retried: 3, returned: 0 });
  expect(broken.receiver.received).toHaveLength(0);
});

test('a batch makes retries too, and records each under its own number', async () => {
  const { receiver, deliveries } = await marked(2, (_, response) => void response.writeHead(500).end());
  const [last, second] = deliveries.map(({ id }) => id);
  const set = (id: string | undefined, count: number) =>
    pool.query(`UPDATE deliveries SET state = 'retried', attempt_count = $2 WHERE id = $1`, [id, count]);
  await Promise.all([set(last, 5), set(second, 1)]);
  const loaded = await loadDeliveries(deliveries.map(({ id }) => id));
  await runBatch(
    loaded.map((one) => ({ ...one, enabled: true })),
    going,
  );
  expect(
    receiver.received.map(({ headers }) => String(headers['x-webhook-id']).replace(/[^.]*$/, '')).toSorted(),
  ).toEqual([`${last}.6.`, `${second}.2.`].toSorted());
  const { rows } = await pool.query<{ id: string; state: string; attempt_count: number; minutes: number | null }>(
    `SELECT id, state, attempt_count, round(extract(epoch FROM next_attempt_at - now()) / 60)::int AS minutes FROM deliveries WHERE id = ANY ($1)`,
    [[last, second]],
  );
  expect(Object.fromEntries(rows.map(({ id, ...row }) => [id, row]))).toEqual({
    [String(last)]: { state: 'failed', attempt_count: 6, minutes: null },
    [String(second)]: { state: 'retried', attempt_count: 2, minutes: 5 },
  });
});

test('deliveries of a batch that keeps failing continue one after another, each in its own workflow', async () => {
  const { deliveries } = await marked(3, (_, response) => void response.writeHead(204).end());
  const ids = deliveries.map(({ id }) => id);
  await pool.query(`UPDATE deliveries SET state = 'retried', attempt_count = 2 WHERE id = $1`, [ids[2]]);
  await splitBatch('batch_another', ids);
  expect((await states(deliveries)).every(({ waits }) => !waits)).toBe(true);
  await splitBatch('batch_test', ids);
  const endpointId = deliveries[0]?.endpoint_id ?? '';
  const claimed = await eventually(async () => {
    const { rows } = await pool.query<{ due: number }>(
      'SELECT count(*)::int AS due FROM deliveries WHERE id = ANY ($1) AND next_attempt_at <= now()',
      [ids],
    );
    expect(rows).toEqual([{ due: 3 }]);
    return claimRetries(pool, [{ endpointId, take: 10, batch: 'batch_next' }], ALL_DELIVERIES);
  });
  expect(
    startsOf(claimed)
      .map(({ type, workflowId }) => [type, workflowId])
      .toSorted(),
  ).toEqual(ids.map((id) => ['deliverWebhook', id]).toSorted());
});

test('attempts in flight include those claimed after the transaction that counts them began', async () => {
  const { deliveries } = await marked(1, (_, response) => void response.writeHead(204).end());
  const endpointId = deliveries[0]?.endpoint_id ?? '';
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT now()');
    await pool.query(
      `UPDATE deliveries SET dispatched_at = now(), next_attempt_at = now(), state = 'queued', closed_at = NULL WHERE endpoint_id = $1`,
      [endpointId],
    );
    const { rows } = await client.query('SELECT count FROM count_attempts_in_flight() WHERE endpoint_id = $1', [
      endpointId,
    ]);
    expect(rows).toEqual([{ count: 1 }]);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});

test('dispatchers of several processes that claim at once count what the others have claimed', async () => {
  const { deliveries } = await marked(20, (_, response) => void response.writeHead(204).end());
  const endpointId = deliveries[0]?.endpoint_id ?? '';
  await pool.query('UPDATE deliveries SET dispatched_at = NULL, workflow_id = NULL WHERE endpoint_id = $1', [
    endpointId,
  ]);
  const MOST = 8;
  const dispatcher = () =>
    claimInTurn(async (client) => {
      const { rows } = await client.query<{ count: number }>(
        `SELECT coalesce(sum(count), 0)::int AS count FROM count_attempts_in_flight() WHERE endpoint_id = $1`,
        [endpointId],
      );
      const take = Math.min(5, MOST - (rows[0]?.count ?? 0));
      return claimFirstAttempts(client, [{ endpointId, take, batch: null }], ALL_DELIVERIES);
    });
  const claimed = await Promise.all([dispatcher(), dispatcher(), dispatcher()]);
  expect(claimed.map(({ length }) => length).toSorted()).toEqual([0, 3, 5]);
});

test('a response is kept with its lines, without characters that control a terminal or reorder the text around it', async () => {
  const hostile = ['\0', '\u0007', '\u001b', '\u007f', '\u009b', '\u202e', '\u2066', '\u2069'];
  const { deliveries } = await marked(1, (_, response) => {
    response.writeHead(400).end(`a\tb\r\n${hostile.join('c')}`);
  });
  await runBatch(deliveries, going);
  const { rows } = await pool.query('SELECT response FROM attempts WHERE delivery_id = $1', [deliveries[0]?.id]);
  expect(rows).toEqual([{ response: `a\tb\r\n${hostile.map(() => '\uFFFD').join('c')}` }]);
});
