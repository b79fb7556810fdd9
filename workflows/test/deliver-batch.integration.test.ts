import { newId, pool } from '@postroom/platform';
import { eventually, startReceiver, startTestWorker, temporalClient } from '@postroom/testkit';
import { createEndpoint } from '@postroom/webhooks';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { beforeAll, expect, test } from 'vitest';

beforeAll(startTestWorker);
const client = await temporalClient();

test('first attempts of many deliveries run in batches; those not acknowledged wait in the table and are retried in another batch', async () => {
  const receiver = await startReceiver((_, response, count) => void response.writeHead(count === 42 ? 503 : 204).end());
  const projectId = newId('prj');
  await pool.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  const { id: endpointId } = await createEndpoint(projectId, { url: receiver.url, events: ['*'] });
  await pool.query(
    `INSERT INTO events (id, project_id, type, data)
     SELECT postroom_id('evt'), $1, 'email.sent', json_build_object('email', 'ada@example.com') FROM generate_series(1, 300)`,
    [projectId],
  );
  const deliveries = async (where: string) =>
    (await pool.query(`SELECT * FROM deliveries WHERE project_id = $1 AND ${where}`, [projectId])).rows;
  await eventually(async () => expect(await deliveries(`state = 'acknowledged'`)).toHaveLength(299), 60_000);

  const batches = new Set((await deliveries(`state = 'acknowledged'`)).map((row) => String(row.workflow_id)));
  expect(batches.size).toBeLessThan(100);
  const [batchId = ''] = [...batches].filter((id) => id.startsWith('batch_'));
  const batch = client.workflow.getHandle(batchId);
  expect(await batch.result()).toMatchObject({
    acknowledged: expect.any(Number),
    retriedIds: expect.any(Array),
    returnedIds: [],
  });
  const { events } = await batch.fetchHistory();
  const history = JSON.stringify(events, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
  expect(events?.length).toBeLessThan(15);
  expect(history).not.toContain('ada@example.com');

  const [late] = await deliveries(`state = 'retried'`);
  expect(late).toMatchObject({ dispatched_at: null, workflow_id: null, attempt_count: 1 });
  expect(late.next_attempt_at.getTime() - Date.now()).toBeGreaterThan(30_000);
  expect(await batch.result()).not.toMatchObject({ returnedIds: [late.id] });

  await pool.query('UPDATE deliveries SET next_attempt_at = now() WHERE id = $1', [late.id]);
  const [retried] = await eventually(async () => {
    const rows = await deliveries(`state = 'acknowledged' AND attempt_count = 2`);
    expect(rows).toHaveLength(1);
    return rows;
  });
  expect(retried).toMatchObject({ id: late.id, workflow_id: expect.stringMatching(/^batch_/) });
  const described = await client.workflow.getHandle(retried.workflow_id).describe();
  const attribute = (name: string) =>
    described.typedSearchAttributes.get(defineSearchAttributeKey(name, SearchAttributeType.KEYWORD));
  expect(['projectId', 'endpointId'].map(attribute)).toEqual([projectId, endpointId]);
  expect(await described.staticSummary()).toBe(`1 retry to ${endpointId}`);
  expect(receiver.received).toHaveLength(301);
  await receiver.close();
}, 120_000);
