import { pool, record } from '@postroom/platform';
import { type Api, eventually, startReceiver, startTestWorker, testApi } from '@postroom/testkit';
import { checkPlans } from '@postroom/testkit/plans';
import { beforeAll, expect, test } from 'vitest';
import { HOURS_OF_ENDPOINTS } from '../src/endpoint-state.ts';

checkPlans();

beforeAll(startTestWorker);

const HOUR_MS = 60 * 60 * 1000;

async function endpoint(api: Api, url = 'https://example.com/hook', events = ['email.failed']): Promise<string> {
  return (await api.post('/v1/webhooks', { url, events })).body.data.id;
}

/** Attempts of an hour that ended some hours ago. */
const attempts = (id: string, hoursAgo: number, acknowledged: number, failed: number) =>
  pool.query(
    `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, acknowledged, failed)
     VALUES ($1, date_trunc('hour', now(), 'UTC') - $2 * interval '1 hour', $3, $4)`,
    [id, hoursAgo, acknowledged, failed],
  );

const HEALTH =
  '{ webhookEndpoints { nodes { id health { state acknowledged failed hours { at acknowledged failed } } } } }';

async function healthOf(api: Api, id: string) {
  const { nodes } = (await api.graphql(HEALTH)).body.data.webhookEndpoints;
  return nodes.find((node: { id: string }) => node.id === id).health;
}

test('the state of an endpoint follows its attempts of the last 24 hours, and older ones no longer count', async () => {
  const api = await testApi();
  const id = await endpoint(api);
  expect(await healthOf(api, id)).toMatchObject({ state: 'idle', acknowledged: 0, failed: 0 });
  await attempts(id, 24, 0, 1000);
  await attempts(id, 23, 90, 0);
  expect(await healthOf(api, id)).toMatchObject({ state: 'healthy', acknowledged: 90, failed: 0 });
  await attempts(id, 0, 0, 10);
  const { hours, ...health } = await healthOf(api, id);
  expect(health).toEqual({ state: 'degraded', acknowledged: 90, failed: 10 });
  expect(hours).toHaveLength(24);
  expect(hours[0]).toMatchObject({ acknowledged: 90, failed: 0 });
  expect(hours[23]).toMatchObject({ acknowledged: 0, failed: 10 });
  const starts = hours.map(({ at }: { at: string }) => Date.parse(at));
  expect(starts.slice(1).map((at: number, index: number) => at - starts[index])).toEqual(Array(23).fill(HOUR_MS));
});

test('each attempt counts once, for the endpoint it went to', async () => {
  const api = await testApi();
  const well = await startReceiver((_, response) => void response.writeHead(200).end());
  const ill = await startReceiver((_, response) => void response.writeHead(500).end());
  const [a, b] = [await endpoint(api, well.url, ['*']), await endpoint(api, ill.url, ['*'])];
  const events = Array.from({ length: 8 }, () => ({ type: 'contact.created' as const, data: {} }));
  await record(pool, api.projectId, events);
  await eventually(async () => {
    expect(await healthOf(api, a)).toMatchObject({ state: 'healthy', acknowledged: 8, failed: 0 });
    expect(await healthOf(api, b)).toMatchObject({ state: 'failing', acknowledged: 0, failed: 8 });
  });
  const { rows } = await pool.query(
    `SELECT count(*)::int AS attempts FROM attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE d.endpoint_id = ANY ($1)`,
    [[a, b]],
  );
  expect(rows).toEqual([{ attempts: 16 }]);
  await Promise.all([well.close(), ill.close()]);
});

test('the state of many endpoints is read with the primary key, by one statement', async () => {
  await pool.query(
    `INSERT INTO webhook_endpoint_hours
     SELECT 'whe_explain' || e, date_trunc('hour', now(), 'UTC') - h * interval '1 hour', 1, 0
     FROM generate_series(1, 300) e, generate_series(0, 46) h`,
  );
  try {
    await pool.query('ANALYZE webhook_endpoint_hours');
    const { rows } = await pool.query(`EXPLAIN ${HOURS_OF_ENDPOINTS}`, [
      Array.from({ length: 25 }, (_, index) => `whe_explain${index}`),
      new Date(Date.now() - 23 * HOUR_MS),
    ]);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/webhook_endpoint_hours_pkey/);
    expect(plan).not.toMatch(/Seq Scan/);
  } finally {
    await pool.query(`DELETE FROM webhook_endpoint_hours WHERE endpoint_id LIKE 'whe_explain%'`);
  }
});
