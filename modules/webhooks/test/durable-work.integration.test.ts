import { inTransaction, newId, pool } from '@postroom/platform';
import { recoverLost } from '@postroom/platform/durable-work';
import { eventually, type Receiver, startReceiver, startTestWorker, temporalClient } from '@postroom/testkit';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createEndpoint } from '../src/endpoints.ts';
import { work } from '../src/durable-work.ts';

const client = await temporalClient();
let receiver: Receiver;
beforeAll(startTestWorker);
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const sweep = () => Promise.all(work.map((kind) => recoverLost(client, kind)));

/** Deliveries claimed some time ago by a dispatcher that then died, or ran `before` first. */
async function marked(
  workflowId: string | null,
  { count = 1, before = (_id: string): Promise<unknown> => Promise.resolve() } = {},
): Promise<string[]> {
  const projectId = newId('prj');
  await pool.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  await createEndpoint(projectId, { url: receiver.url, events: ['*'] });
  return inTransaction(async (tx) => {
    await tx.query(
      `INSERT INTO events (id, project_id, type, data)
       SELECT postroom_id('evt'), $1, 'contact.created', '{}' FROM generate_series(1, $2)`,
      [projectId, count],
    );
    const { rows } = await tx.query<{ id: string }>(
      `UPDATE deliveries SET workflow_id = coalesce($2, id), dispatched_at = now() - interval '1 minute',
         next_attempt_at = now() - interval '1 minute'
       WHERE project_id = $1 RETURNING id`,
      [projectId, workflowId],
    );
    // Not visible yet, because workers of other tests also sweep.
    for (const { id } of rows) await before(id);
    return rows.map(({ id }) => id);
  });
}

const startNothing = (id: string) =>
  client.workflow.start('nobodyRunsThis', { workflowId: id, taskQueue: `nobody-${id}` });

const rowsOf = async (ids: string[]) =>
  (await pool.query('SELECT id, state, workflow_id, returns FROM deliveries WHERE id = ANY ($1)', [ids])).rows;

test('claimed deliveries whose workflow a crash lost are dispatched again, individually or batched, and none is lost', async () => {
  const alone = await marked(null);
  const batch = await marked(`batch_${newId('dlv').slice(4)}`, { count: 5 });
  const ids = [...alone, ...batch];
  await eventually(async () => {
    await sweep();
    expect(await rowsOf(ids)).toEqual(ids.map(() => expect.objectContaining({ state: 'acknowledged' })));
  });
  expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(6);
  expect(receiver.received).toHaveLength(6);
  // A workflow id is used only once: the lost one may still turn up.
  const [again] = await rowsOf(alone);
  // Once, or more often: workers of other tests also reconcile.
  expect(again?.returns).toBeGreaterThanOrEqual(1);
  expect(again?.workflow_id).not.toBe(again?.id);
});

test('a delivery whose workflow an operator terminated fails and is not sent again', async () => {
  const [id = ''] = await marked(null, {
    before: async (id) => (await startNothing(id)).terminate('by the test'),
  });
  await eventually(async () => {
    await sweep();
    expect(await rowsOf([id])).toMatchObject([{ state: 'failed' }]);
  });
  expect(receiver.received).toHaveLength(0);
});

test('a delivery whose workflow is running is left alone, however late it is', async () => {
  const [id = ''] = await marked(null, { before: startNothing });
  await sweep();
  expect(await rowsOf([id])).toMatchObject([{ state: 'queued', workflow_id: id, returns: 0 }]);
  await client.workflow.getHandle(id).terminate('the test is over');
});
