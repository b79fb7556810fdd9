import { config, inTransaction, newId, pool } from '@postroom/platform';
import { eventually, startReceiver, startTestWorker } from '@postroom/testkit';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEndpoint } from './endpoints.ts';
import { CLAIM_FIRST_ATTEMPTS, CLAIM_RETRIES, READ_WAITING, RETRYING_PER_ENDPOINT } from './queue.ts';

const WAITING = 50_000;

let client: Client;
beforeAll(async () => {
  await startTestWorker();
  client = new Client({ connection: await Connection.connect({ address: config.TEMPORAL_ADDRESS }) });
});
afterAll(() => client.connection.close());

/** An endpoint for which so many deliveries wait. */
async function backlog(url: string, { enabled }: { enabled: boolean }): Promise<string> {
  const projectId = newId('prj');
  await pool.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  const { id } = await createEndpoint(projectId, { url, events: ['*'] });
  await inTransaction(async (tx) => {
    await tx.query(
      `INSERT INTO events (id, project_id, type, data)
       SELECT postroom_id('evt'), $1, 'email.sent', '{}' FROM generate_series(1, $2)`,
      [projectId, WAITING],
    );
    await tx.query('UPDATE webhook_endpoints SET enabled = $2 WHERE id = $1', [id, enabled]);
  });
  return id;
}

test('however many deliveries wait for an endpoint that hangs, ten are in hand, and so few workflows are open', async () => {
  const receiver = await startReceiver(() => {});
  const endpointId = await backlog(receiver.url, { enabled: true });
  let most = 0;
  await eventually(async () => {
    const { rows } = await pool.query<{ in_hand: number; retrying: number }>(
      `SELECT count(*)::int AS in_hand, count(*) FILTER (WHERE state = 'retried')::int AS retrying FROM deliveries
       WHERE endpoint_id = $1 AND handed_at IS NOT NULL AND closed_at IS NULL`,
      [endpointId],
    );
    most = Math.max(most, rows[0]?.in_hand ?? 0);
    expect(rows[0]?.retrying).toBe(10);
  }, 60_000);
  expect(most).toBeLessThanOrEqual(11); // one is a probe
  expect(receiver.received.length).toBeLessThanOrEqual(11);
  const open = `endpointId = "${endpointId}" AND ExecutionStatus = "Running"`;
  await eventually(async () => expect((await client.workflow.count(open)).count).toBeGreaterThanOrEqual(10));
  expect((await client.workflow.count(open)).count).toBeLessThanOrEqual(12);
  await receiver.close();
}, 120_000);

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: Plan[];
}

/** The parts of a plan that read a table, after it was carried out for nothing. */
async function reads(sql: string, values: unknown[]): Promise<Plan[]> {
  const parts = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(parts)];
  const undone = new Error('undone');
  let found: Plan[] = [];
  await inTransaction(async (tx) => {
    const { rows } = await tx.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
      values,
    );
    found = (rows[0]?.['QUERY PLAN'] ?? []).flatMap(({ Plan: plan }) => parts(plan));
    throw undone;
  }).catch((error: unknown) => {
    if (error !== undone) throw error;
  });
  return found.filter(({ 'Index Name': index, 'Relation Name': table }) => index !== undefined || table !== undefined);
}

test('what the relay reads and claims does not grow with what waits', async () => {
  const endpointId = await backlog('https://example.com/', { enabled: false });
  await pool.query(
    `UPDATE deliveries SET state = 'retried' WHERE id IN (SELECT id FROM deliveries WHERE endpoint_id = $1 LIMIT $2)`,
    [endpointId, WAITING / 2],
  );
  await pool.query('ANALYZE deliveries, events, webhook_endpoints');
  const looked = await reads(READ_WAITING, ['']);
  const claimed = await reads(CLAIM_FIRST_ATTEMPTS, [[endpointId], [300], ['batch_test']]);
  await pool.query('UPDATE webhook_endpoints SET enabled = true WHERE id = $1', [endpointId]);
  const again = await reads(CLAIM_RETRIES, [20, false]);
  await pool.query('UPDATE webhook_endpoints SET enabled = false WHERE id = $1', [endpointId]);
  expect(ofDeliveries(looked)).toContain('deliveries_waiting_idx');
  expect(ofDeliveries(claimed)).toContain('deliveries_waiting_idx');
  expect(ofDeliveries(again)).toContain('deliveries_due_idx');
});

/** The indexes by which these parts read deliveries: never the whole table, and never more rows than are counted of one endpoint. */
function ofDeliveries(parts: readonly Plan[]): (string | undefined)[] {
  const found = parts.filter(
    (part) => part['Relation Name'] === 'deliveries' || part['Index Name']?.startsWith('deliveries_'),
  );
  expect(found.filter((part) => part['Node Type'] === 'Seq Scan')).toEqual([]);
  expect(Math.max(...found.map((part) => part['Actual Rows']))).toBeLessThanOrEqual(RETRYING_PER_ENDPOINT);
  return found.map((part) => part['Index Name']);
}
