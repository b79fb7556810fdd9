import { idsFrom, newId, pool, secretColumn } from '@postroom/platform';
import { runExclusively, signedIn, testApi } from '@postroom/testkit';
import { checkPlans } from '@postroom/testkit/plans';
import { beforeEach, expect, test } from 'vitest';
import { deleteOld } from '../src/retention.ts';

checkPlans();

runExclusively('retention');

const DAY_MS = 24 * 60 * 60 * 1000;
let projectId: string;
beforeEach(async () => {
  ({ projectId } = await testApi());
});

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
let made = 0;
const idOf = (prefix: 'evt' | 'dlv', at: Date) => idsFrom(prefix, at).slice(0, -6) + String(++made).padStart(6, '0');

async function endpoint(disabledDaysAgo?: number): Promise<string> {
  const id = newId('whe');
  await pool.query(
    `INSERT INTO webhook_endpoints (id, project_id, url, events, secret, enabled, disabled_at, updated_at)
     VALUES ($1, $2, 'https://example.com/', '{none}', $3, $4, $5, now())`,
    [
      id,
      projectId,
      secretColumn('webhook_endpoints', 'secret').encrypt('whsec_x', id),
      disabledDaysAgo === undefined,
      disabledDaysAgo === undefined ? null : daysAgo(disabledDaysAgo),
    ],
  );
  return id;
}

async function event(days: number): Promise<string> {
  const at = daysAgo(days);
  const id = idOf('evt', at);
  await pool.query(
    `INSERT INTO events (id, project_id, type, data, created_at) VALUES ($1, $2, 'contact.created', '{}', $3)`,
    [id, projectId, at],
  );
  return id;
}

/** A delivery of this age with an attempt; `closedDays` is undefined for one in progress. */
async function delivery(eventId: string, endpointId: string, days: number, closedDays?: number): Promise<string> {
  const at = daysAgo(days);
  const id = idOf('dlv', at);
  const closed = closedDays === undefined ? null : daysAgo(closedDays);
  await pool.query(
    // No attempt is due for those in progress, so no dispatcher takes them.
    `INSERT INTO deliveries (id, project_id, endpoint_id, event_id, state, attempt_count, created_at, closed_at, next_attempt_at)
     VALUES ($1, $2, $3, $4, $5, 1, $6, $7, NULL)`,
    [id, projectId, endpointId, eventId, closed === null ? 'retried' : 'acknowledged', at, closed],
  );
  await pool.query(
    `INSERT INTO attempts (delivery_id, project_id, number, started_at, duration_ms, headers) VALUES ($1, $3, 1, $2, 5, '{}')`,
    [id, at, projectId],
  );
  return id;
}

const ids = async (table: string) =>
  (await pool.query(`SELECT id FROM ${table} WHERE project_id = $1 ORDER BY id`, [projectId])).rows.map(({ id }) => id);
const attempts = async () =>
  (
    await pool.query(
      'SELECT delivery_id AS id FROM attempts JOIN deliveries d ON d.id = delivery_id WHERE d.project_id = $1',
      [projectId],
    )
  ).rows.map(({ id }) => id);

test('events, deliveries and attempts older than 30 days are deleted, younger ones are kept', async () => {
  const to = await endpoint();
  const [oldest, old, young] = [await event(60), await event(31), await event(29)];
  await delivery(oldest, to, 60, 59);
  await delivery(old, to, 31, 31);
  const kept = await delivery(young, to, 29, 29);
  const unheard = await event(40);
  await deleteOld();
  expect(await ids('events')).toEqual([young]);
  expect(await ids('deliveries')).toEqual([kept]);
  expect(await attempts()).toEqual([kept]);
  expect(await ids('events')).not.toContain(unheard);
});

test('deliveries in progress and their events are never deleted, however old', async () => {
  const to = await endpoint();
  const [old, replayed] = [await event(60), await event(60)];
  const open = await delivery(old, to, 60);
  await delivery(old, await endpoint(), 60, 50);
  const replay = await delivery(replayed, to, 1, 1);
  await deleteOld();
  expect(await ids('deliveries')).toEqual([open, replay].sort());
  expect(await ids('events')).toEqual([old, replayed].sort());
  expect(await attempts()).toHaveLength(2);
});

test('a recently closed delivery is kept, however long ago it began', async () => {
  const late = await delivery(await event(40), await endpoint(), 40, 10);
  await deleteOld();
  expect(await ids('deliveries')).toEqual([late]);
});

test("a disabled endpoint's backlog is kept for 7 days, then failed, and can still be replayed", async () => {
  const [lately, longAgo] = [await endpoint(6.9), await endpoint(7.1)];
  const happened = await event(8);
  const waiting = await delivery(happened, lately, 8);
  const givenUp = await delivery(happened, longAgo, 8);
  expect((await deleteOld()).givenUp).toBeGreaterThanOrEqual(1);
  const { rows } = await pool.query(
    'SELECT id, state, closed_at IS NOT NULL AS closed FROM deliveries WHERE project_id = $1 ORDER BY id',
    [projectId],
  );
  expect(rows).toEqual([
    { id: waiting, state: 'retried', closed: false },
    { id: givenUp, state: 'failed', closed: true },
  ]);
});

test('hourly counts of attempts are kept for 2 days', async () => {
  const id = await endpoint();
  for (const days of [1.9, 2.1])
    await pool.query('INSERT INTO webhook_endpoint_hours VALUES ($1, $2, 1, 0)', [id, daysAgo(days)]);
  expect((await deleteOld()).hours).toBeGreaterThanOrEqual(1);
  const { rowCount } = await pool.query('SELECT FROM webhook_endpoint_hours WHERE endpoint_id = $1', [id]);
  expect(rowCount).toBe(1);
});

test('idempotency keys are kept for 24 hours', async () => {
  const insert = (key: string, days: number) =>
    pool.query('INSERT INTO idempotency_keys (project_id, key, fingerprint, created_at) VALUES ($1, $2, $2, $3)', [
      projectId,
      key,
      daysAgo(days),
    ]);
  await insert('old', 1.01);
  await insert('young', 0.99);
  await deleteOld();
  const { rows } = await pool.query('SELECT key FROM idempotency_keys WHERE project_id = $1', [projectId]);
  expect(rows).toEqual([{ key: 'young' }]);
});

test('the retention is configurable, and each batch is reported to the caller', async () => {
  await pool.query(
    `INSERT INTO events (id, project_id, type, data, created_at)
     SELECT left($2, 20) || lpad(n::text, 10, '0'), $1, 'contact.created', '{}', $3 FROM generate_series(1, 2500) AS n`,
    [projectId, idsFrom('evt', daysAgo(20)), daysAgo(20)],
  );
  await deleteOld();
  expect(await ids('events')).toHaveLength(2500);
  let batches = 0;
  const deleted = await deleteOld({ days: 19, onBatch: () => void batches++ });
  expect(deleted.events).toBeGreaterThanOrEqual(2500);
  expect(batches).toBeGreaterThanOrEqual(6);
  expect(await ids('events')).toEqual([]);
});

/** A project with this retention, and what is left of an event of this age, its delivery and attempt. */
async function keeping(keptDays: number | null, days: number) {
  ({ projectId } = await testApi());
  await pool.query('UPDATE projects SET event_retention_days = $2 WHERE id = $1', [projectId, keptDays]);
  await delivery(await event(days), await endpoint(), days, days);
  const own = projectId;
  return async () => {
    projectId = own;
    return {
      events: (await ids('events')).length,
      deliveries: (await ids('deliveries')).length,
      attempts: (await attempts()).length,
    };
  };
}

const ALL = { events: 1, deliveries: 1, attempts: 1 };
const NONE = { events: 0, deliveries: 0, attempts: 0 };

test('each project keeps events, deliveries and attempts for its own retention period', async () => {
  const shorter = [await keeping(7, 8), await keeping(7, 6)];
  const longer = [await keeping(365, 364), await keeping(365, 366)];
  const silent = [await keeping(null, 29), await keeping(null, 31)];
  await deleteOld();
  const left = [];
  for (const leftOf of [...shorter, ...longer, ...silent]) left.push(await leftOf());
  expect(left).toEqual([NONE, ALL, ALL, NONE, ALL, NONE]);
});

test('a one-day retention keeps deliveries in progress', async () => {
  await pool.query('UPDATE projects SET event_retention_days = 1 WHERE id = $1', [projectId]);
  const open = await delivery(await event(20), await endpoint(), 20);
  await event(20);
  await deleteOld();
  expect([await ids('deliveries'), (await ids('events')).length]).toEqual([[open], 1]);
});

test('a deletion interrupted between projects continues on the next run', async () => {
  const first = await keeping(7, 8);
  const second = await keeping(7, 8);
  let batches = 0;
  const stop = () => {
    batches++;
    throw new Error('cut off');
  };
  await expect(deleteOld({ onBatch: stop })).rejects.toThrow('cut off');
  expect(batches).toBe(1);
  await deleteOld();
  expect([await first(), await second()]).toEqual([NONE, NONE]);
});

test('event retention is a project setting that only its managers can change', async () => {
  const api = await testApi();
  const set = 'mutation ($days: Int) { setEventRetention(days: $days) { eventRetentionDays keptEventDays } }';
  const owner = await signedIn(api, 'owner');
  for (const days of [1, 3650, 7]) {
    const { body } = await owner.graphql(set, { days });
    expect(body.data.setEventRetention).toEqual({ eventRetentionDays: days, keptEventDays: days });
  }
  for (const days of [-1, 0, 3651]) {
    const refused = await owner.graphql(set, { days });
    expect(refused.body.errors[0].extensions).toMatchObject({
      code: 'validation_error',
      details: [{ field: 'days', message: 'must be between 1 and 3650' }],
    });
  }
  const theirs = await owner.graphql('{ projects { id keptEventDays } }');
  expect(theirs.body.data.projects).toContainEqual({ id: api.projectId, keptEventDays: 7 });
  const asInstalled = await owner.graphql(set, { days: null });
  expect(asInstalled.body.data.setEventRetention).toEqual({ eventRetentionDays: null, keptEventDays: 30 });
  const member = await (await signedIn(api, 'member')).graphql(set, { days: 7 });
  expect(member.body.errors[0].extensions.code).toBe('forbidden');
});
