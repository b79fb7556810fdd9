import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@postroom/migrations';
import { databaseBefore } from '@postroom/testkit/previous-schema';
import pg from 'pg';
import { expect, test } from 'vitest';

const FIRST = '20261125070000_partition_bounds';
/** A database with the schema from before partitions, a project and its endpoint. */
async function previousRelease() {
  const { url, client } = await databaseBefore(FIRST);
  await client.query(`
    INSERT INTO projects (id, name) VALUES ('prj_1', 'Test');
    INSERT INTO webhook_endpoints (id, project_id, url, events, secret, updated_at) VALUES ('whe_1', 'prj_1', 'https://example.com/', '{*}', 'x', now())`);
  return { url, client };
}

/** What the programs of the previous release do all the time. */
const STATEMENTS = [
  `INSERT INTO events (id, project_id, type, data) SELECT postroom_id('evt'), 'prj_1', 'contact.created', '{}' FROM generate_series(1, 20)`,
  `WITH picked AS (SELECT id FROM deliveries WHERE state = 'queued' ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED), done AS (
     UPDATE deliveries d SET state = 'acknowledged', attempt_count = 1, closed_at = now() FROM picked WHERE d.id = picked.id RETURNING d.id)
   INSERT INTO attempts (delivery_id, project_id, number, started_at, duration_ms, headers) SELECT id, 'prj_1', 1, now(), 5, '{}' FROM done`,
  `INSERT INTO deliveries (id, project_id, endpoint_id, event_id, replay_of) SELECT postroom_id('dlv'), project_id, endpoint_id, event_id, id
     FROM deliveries WHERE state = 'acknowledged' LIMIT 1`,
  `SELECT endpoint_id FROM read_waiting_deliveries('', 200, 600, 10)`,
  'SELECT * FROM count_attempts_in_flight()',
];

async function countAll(client: pg.Client) {
  const { rows } = await client.query(`
    SELECT (SELECT count(*)::int FROM events) AS events, (SELECT count(*)::int FROM deliveries) AS deliveries,
      (SELECT count(*)::int FROM attempts) AS attempts, (SELECT count(*)::int FROM deliveries WHERE state = 'acknowledged') AS acknowledged,
      (SELECT count(*)::int FROM deliveries WHERE replay_of IS NOT NULL) AS replays`);
  return rows[0];
}

test('a database in use is partitioned without losing a row or failing a statement, and the previous release goes on', async () => {
  const { url, client } = await previousRelease();
  for (let round = 0; round < 50; round++) for (const statement of STATEMENTS) await client.query(statement);
  let isDone = false;
  let rounds = 50;
  let slowestMs = 0;
  const traffic = Array.from({ length: 3 }, async () => {
    const session = new pg.Client({ connectionString: url });
    await session.connect();
    try {
      while (!isDone) {
        for (const [name, text] of STATEMENTS.entries()) {
          const startedAt = Date.now();
          await session.query({ name: String(name), text });
          slowestMs = Math.max(slowestMs, Date.now() - startedAt);
        }
        rounds++;
        await sleep(5);
      }
    } finally {
      await session.end();
    }
  });
  const migrated = await migrate(url).finally(() => setTimeout(() => (isDone = true), 500));
  await Promise.all(traffic);
  expect(migrated).toContain(FIRST);
  expect(slowestMs).toBeLessThan(5_000);
  const counts = await countAll(client);
  expect(counts.events).toBe(20 * rounds);
  expect(counts.deliveries).toBe(20 * rounds + counts.replays);
  expect(counts.attempts).toBe(counts.acknowledged);
  const { rows: orphans } = await client.query(
    'SELECT FROM attempts a WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.id = a.delivery_id)',
  );
  expect(orphans).toEqual([]);

  // The rows that were there are the first partition, with the old table's indexes; what comes later has its own.
  const { rows: partitions } = await client.query(
    `SELECT p.name, count(i.indexrelid)::int AS indexes FROM list_partitions('deliveries') p
       JOIN pg_index i ON i.indrelid = p.name::regclass GROUP BY p.name ORDER BY p.name`,
  );
  expect(partitions.length).toBeGreaterThanOrEqual(3);
  expect(new Set(partitions.map(({ indexes }) => indexes)).size).toBe(1);
  const { rows: invalid } = await client.query('SELECT FROM pg_index WHERE NOT indisvalid');
  expect(invalid).toEqual([]);
  await client.query(
    `INSERT INTO events (id, project_id, type, data) VALUES (partition_bound('evt', now() + interval '30 days'), 'prj_1', 'contact.created', '{}')`,
  );
  const { rows: late } = await client.query(
    `SELECT tableoid::regclass::text AS partition FROM events WHERE id > partition_bound('evt', now() + interval '29 days')`,
  );
  expect(late[0].partition).toMatch(/^events_(\d{8}|rest)$/);

  await client.query(`DELETE FROM webhook_endpoints WHERE id = 'whe_1'`);
  expect(await countAll(client)).toMatchObject({ events: counts.events + 1, deliveries: 0, attempts: 0 });
}, 60_000);
