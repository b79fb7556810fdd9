import { pool, sql } from '@postroom/platform';
import { eventually, interleave, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

/** More deliveries than two statements change. */
const MANY = 12_000;

/** A disabled endpoint to which many deliveries failed. */
async function failedDeliveries() {
  const api = await testApi();
  const url = 'https://hooks.example.com/';
  const { id } = (await api.post('/v1/webhooks', { url, events: ['email.sent'] })).body.data;
  await pool.query('UPDATE webhook_endpoints SET enabled = false WHERE id = $1', [id]);
  await pool.query(
    `WITH added AS (
       INSERT INTO events (id, project_id, type, data)
       SELECT postroom_id('evt'), $1, 'email.sent', '{}' FROM generate_series(1, $3::int) RETURNING id)
     INSERT INTO deliveries (id, project_id, endpoint_id, event_id, state, closed_at)
     SELECT postroom_id('dlv'), $1, $2, id, 'failed', now() FROM added ORDER BY id`,
    [api.projectId, id, MANY],
  );
  const count = async (state: string) => {
    const { rows } = await pool.query(
      'SELECT count(*)::int FROM deliveries WHERE endpoint_id = $1 AND state = $2::delivery_state',
      [id, state],
    );
    return rows[0].count as number;
  };
  return { api, id, path: `/v1/webhooks/${id}`, count };
}

test('many failures are replayed in several statements, each once', async () => {
  const { api, id, path } = await failedDeliveries();
  await pool.query('UPDATE webhook_endpoints SET enabled = true WHERE id = $1', [id]);
  const replay = () => api.post(`${path}/replay`, { since: new Date(Date.now() - 3_600_000).toISOString() });
  const replayed = async () => {
    const { rows } = await pool.query(
      'SELECT count(DISTINCT replay_of)::int AS count FROM deliveries WHERE endpoint_id = $1 AND replay_of IS NOT NULL',
      [id],
    );
    return rows[0].count as number;
  };
  const reply = await interleave(
    (tx) => sql(tx, 'SELECT FROM events WHERE project_id = $1 ORDER BY id DESC LIMIT 1 FOR UPDATE', [api.projectId]),
    replay,
    () => eventually(async () => expect(await replayed()).toBe(10_000)),
  );
  expect(reply.body).toEqual({ data: { replayed: MANY } });
  expect((await replay()).body).toEqual({ data: { replayed: 0 } });
  expect(await replayed()).toBe(MANY);
});

test('an endpoint with many deliveries is deleted in several statements', async () => {
  const { api, id, path, count } = await failedDeliveries();
  const reply = await interleave(
    (tx) => sql(tx, 'SELECT FROM deliveries WHERE endpoint_id = $1 ORDER BY id DESC LIMIT 1 FOR UPDATE', [id]),
    () => api.delete(path),
    () => eventually(async () => expect(await count('failed')).toBe(MANY - 10_000)),
  );
  expect(reply.status).toBe(200);
  expect(await count('failed')).toBe(0);
  expect((await api.get(path)).status).toBe(404);
});
