import { inTransaction, newIdAt, pool } from '@postroom/platform';
import { runExclusively, testApi } from '@postroom/testkit';
import { checkPlans } from '@postroom/testkit/plans';
import { expect, test } from 'vitest';
import { listPartitions } from '../src/partitions.ts';
import { deleteOld } from '../src/retention.ts';
import { EVENT_ID } from '../src/track.ts';

checkPlans();

runExclusively('retention');

const DAY_MS = 24 * 60 * 60 * 1000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
const partitionOf = (at: Date) => `custom_events_${at.toISOString().slice(0, 7).replace('-', '')}`;
const names = async () => (await listPartitions()).map(({ name }) => name);

async function insert(projectId: string, at: Date): Promise<void> {
  await pool.query('SELECT create_custom_event_partitions($1, $1)', [at]);
  await pool.query(
    `INSERT INTO custom_events (project_id, occurred_at, id, contact_id, name) VALUES ($1, $2, $3, 'ctc_x', 'a')`,
    [projectId, at, newIdAt(EVENT_ID, at)],
  );
  await pool.query(
    `INSERT INTO custom_event_contact_days (project_id, name, day, contact_id, event_count, first_at, last_at)
     VALUES ($1, 'a', $2::date, 'ctc_x', 1, $2, $2)`,
    [projectId, at],
  );
}

const countOf = async (projectId: string) =>
  (await pool.query('SELECT FROM custom_events WHERE project_id = $1', [projectId])).rowCount;

test('partitions exist from the oldest month an event may occur in to two months ahead', async () => {
  await deleteOld();
  const found = await names();
  for (const days of [31, 0, -31, -60]) {
    expect(found).toContain(partitionOf(daysAgo(days)));
    expect(found).toContain(partitionOf(daysAgo(days)).replace('events', 'event_contact_days'));
  }
  expect(await deleteOld()).toMatchObject({ customEventPartitions: 0 });
});

test('an event is accepted even if nothing has created the partition of its month', async () => {
  const api = await testApi();
  const month = partitionOf(new Date());
  const { rows } = await pool.query(`SELECT EXISTS (SELECT FROM ${month}) AS used`);
  if (rows[0].used === true) await pool.query('DELETE FROM custom_events');
  await pool.query(`DROP TABLE ${month}`);
  const { status } = await api.post('/v1/events', { name: 'a', email: 'ada@example.com', create_contact: true });
  expect(status).toBe(200);
  expect(await names()).toContain(month);
  expect(await countOf(api.projectId)).toBe(1);
});

test('a project that keeps events longer keeps its own only; a month that nobody keeps is dropped', async () => {
  const [short, long] = [(await testApi()).projectId, (await testApi()).projectId];
  await pool.query('UPDATE projects SET custom_event_retention_days = 800 WHERE id = $1', [long]);
  await pool.query('UPDATE projects SET custom_event_retention_days = 60 WHERE id = $1', [short]);
  for (const project of [short, long]) for (const days of [10, 70, 900]) await insert(project, daysAgo(days));
  const deleted = await deleteOld({ days: 365 });
  expect(deleted.customEventPartitions).toBeGreaterThanOrEqual(2);
  expect(await names()).not.toContain(partitionOf(daysAgo(900)));
  expect(await names()).toContain(partitionOf(daysAgo(70)));
  expect([await countOf(short), await countOf(long)]).toEqual([1, 2]);
  const days = await pool.query('SELECT FROM custom_event_contact_days WHERE project_id = $1', [short]);
  expect(days.rowCount).toBe(1);
  await pool.query('UPDATE projects SET custom_event_retention_days = NULL WHERE id = $1', [long]);
  for (let run = 0; run < 2; run++) await deleteOld({ days: 30 });
  expect(await names(), 'a month of the past that has become empty').not.toContain(partitionOf(daysAgo(70)));
});

test('a key lives as long as its event may be repeated', async () => {
  const { projectId } = await testApi();
  for (const days of [29, 32])
    await pool.query(
      `INSERT INTO custom_event_keys (project_id, key, event_id, contact_id, received_at) VALUES ($1, $2, 'cev_x', 'ctc_x', $3)`,
      [projectId, `${days} days`, daysAgo(days)],
    );
  await deleteOld();
  const { rows } = await pool.query('SELECT key FROM custom_event_keys WHERE project_id = $1', [projectId]);
  expect(rows).toEqual([{ key: '29 days' }]);
});

test('dropping a partition gives up while a query reads the table, and leaves it for the next run', async () => {
  const at = daysAgo(4000);
  await insert((await testApi()).projectId, at);
  await inTransaction(async (tx) => {
    await tx.query('SELECT count(*) FROM custom_events');
    await deleteOld();
  });
  expect(await names()).toContain(partitionOf(at));
  await deleteOld();
  expect(await names()).not.toContain(partitionOf(at));
});

test('the retention of a project is set by those who manage it', async () => {
  const api = await testApi();
  const set = 'mutation ($days: Int) { setCustomEventRetention(days: $days) { id } }';
  const { body } = await api.graphql(set, { days: 90 });
  expect(body.errors[0].extensions.code).toBe('forbidden');
});
