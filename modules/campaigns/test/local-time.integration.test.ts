import {
  type Capped,
  claimPage,
  endShards,
  extendShard,
  isWorthSharding,
  MAIL_POLICY,
  openShard,
  type Reservation,
} from '@postroom/ledger';
import { newId, pool } from '@postroom/platform';
import { signedIn } from '@postroom/testkit';
import { describe, expect, test } from 'vitest';
import { pauseUncertain } from '../src/after-restore.ts';
import { pauseAfterErrors } from '../src/send-run.ts';
import { startScheduled } from '../src/sending.ts';
import { snapshotRecipients } from '../src/snapshot-recipients.ts';
import { readyCampaign } from './ready-campaign.ts';
import { ALL } from './reserved.ts';

const HOUR_MS = 3_600_000;

/** The local time in UTC, a number of hours from now. */
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString().slice(0, 16);

/** A campaign that is ready to send, of a project with a custom field for time zones. */
async function zonedCampaign() {
  const ready = await readyCampaign();
  const { api, campaign } = ready;
  const field = await api.post('/v1/custom-fields', { key: 'zone', label: 'Time zone', type: 'text' });
  expect(field.status, JSON.stringify(field.body)).toBe(201);
  await api.post('/v1/custom-fields', { key: 'size', label: 'Size', type: 'number' });
  const path = `/v1/campaigns/${campaign.id}`;
  const schedule = (input: object) => api.post(`${path}/schedule`, input);
  const now = async () => (await api.get(path)).body.data;
  return { ...ready, id: campaign.id as string, path, schedule, now };
}

describe('scheduling', () => {
  test('for a local time starts the campaign when that time comes first on Earth', async () => {
    const { schedule } = await zonedCampaign();
    const at = new Date(Date.now() + 100 * 24 * HOUR_MS).toISOString().slice(0, 10);
    const zone = { time_zone: 'Europe/Berlin', time_zone_field: 'custom_fields.zone' };
    const reply = await schedule({ local_time: `${at}T09:00`, ...zone });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect(reply.body.data).toMatchObject({
      status: 'scheduled',
      scheduledAt: new Date(Date.parse(`${at}T09:00Z`) - 14 * HOUR_MS).toISOString(),
      localTime: `${at}T09:00`,
      timeZone: 'Europe/Berlin',
      timeZoneField: 'zone',
      awaitingLocalTime: null,
    });
  });

  test('for a local time that has come somewhere starts the campaign at once', async () => {
    const { schedule, id } = await zonedCampaign();
    const before = Date.now();
    const { data } = (await schedule({ local_time: inHours(1), time_zone_field: 'zone' })).body;
    expect(Date.parse(data.scheduledAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(data.scheduledAt)).toBeLessThanOrEqual(Date.now());
    expect(data).toMatchObject({ timeZone: 'UTC', timeZoneField: 'zone' });
    expect(await startScheduled(id, new Date(data.scheduledAt))).toBe('started');
  });

  test('for a local time without a field starts the campaign at that time in its time zone, for everyone', async () => {
    const { schedule, id, now } = await zonedCampaign();
    const day = new Date(Date.now() + 30 * 24 * HOUR_MS).toISOString().slice(0, 10);
    const { data } = (await schedule({ local_time: `${day}T09:00`, time_zone: 'Asia/Tokyo' })).body;
    expect(data).toMatchObject({ scheduledAt: `${day}T00:00:00.000Z`, localTime: `${day}T09:00`, timeZoneField: null });
    expect(await startScheduled(id, new Date(data.scheduledAt))).toBe('started');
    await snapshotRecipients(id);
    const { rows } = await pool.query('SELECT not_before FROM messages WHERE campaign_id = $1', [id]);
    expect(rows).toEqual([{ not_before: null }]);
    expect((await now()).awaitingLocalTime).toBeNull();
  });

  test.each([
    [{}, 'scheduled_at', 'is required, unless local_time is given'],
    [{ time_zone: 'Europe/Berlin' }, 'time_zone', 'requires local_time'],
    [{ time_zone_field: 'zone' }, 'time_zone_field', 'requires local_time'],
    [
      { local_time: inHours(30), scheduled_at: inHours(30) + ':00Z' },
      'local_time',
      'must not be combined with scheduled_at',
    ],
    [{ local_time: inHours(30), time_zone: '+01:00' }, 'time_zone', 'must be a time zone such as Europe/Berlin'],
    [{ local_time: inHours(30), time_zone: 'Mars/Olympus' }, 'time_zone', 'must be a time zone such as Europe/Berlin'],
    [
      { local_time: inHours(30), time_zone_field: 'area' },
      'time_zone_field',
      '"area" is not a custom field of this project',
    ],
    [
      { local_time: inHours(30), time_zone_field: 'custom_fields.size' },
      'time_zone_field',
      'must be a custom field of type text or select; "size" is of type number',
    ],
    [{ local_time: inHours(-1) }, 'local_time', 'must be in the future in UTC'],
    [{ local_time: inHours(1), time_zone: 'Asia/Tokyo' }, 'local_time', 'must be in the future in Asia/Tokyo'],
    [{ local_time: '2027-02-30T09:00' }, 'local_time', expect.stringContaining('such as 2026-12-01T09:00')],
    [{ local_time: '2027-02-01T09:00+01:00' }, 'local_time', expect.stringContaining('without an offset')],
    [{ local_time: 'tomorrow' }, 'local_time', expect.stringContaining('without an offset')],
    [{ local_time: '2127-02-01T09:00' }, 'local_time', 'must be at most 365 days in the future in UTC'],
  ])('with %j is a validation_error that names %s', async (input, field, message) => {
    const { schedule } = await zonedCampaign();
    const reply = await schedule(input);
    expect([reply.status, reply.body.error.code]).toEqual([400, 'validation_error']);
    expect(reply.body.error.details).toEqual([{ field, message }]);
  });

  test('for an instant, unscheduling and sending now end a local time', async () => {
    const { api, schedule, path, now } = await zonedCampaign();
    const none = { localTime: null, timeZone: null, timeZoneField: null };
    const local = { local_time: inHours(30), time_zone: 'Europe/Berlin', time_zone_field: 'zone' };
    await schedule(local);
    expect((await schedule({ scheduled_at: new Date(Date.now() + HOUR_MS).toISOString() })).body.data).toMatchObject(
      none,
    );
    await schedule(local);
    expect((await api.post(`${path}/unschedule`)).body.data).toMatchObject(none);
    await schedule(local);
    expect((await api.post(`${path}/send`)).status).toBe(202);
    expect(await now()).toMatchObject({ status: 'sending', ...none });
  });

  test('is possible in GraphQL, and in the audit log', async () => {
    const { api, id } = await zonedCampaign();
    const owner = await signedIn(api, 'owner');
    const { body } = await owner.graphql(
      `mutation ($id: ID!, $input: ScheduleCampaignInput!) { scheduleCampaign(id: $id, input: $input) { localTime timeZone timeZoneField } }`,
      { id, input: { localTime: inHours(30), timeZone: 'Europe/Berlin', timeZoneField: 'zone' } },
    );
    expect(body.data.scheduleCampaign).toMatchObject({ timeZone: 'Europe/Berlin', timeZoneField: 'zone' });
    const { rows } = await pool.query('SELECT changes FROM audit_entries WHERE project_id = $1 AND action = $2', [
      api.projectId,
      'scheduleCampaign',
    ]);
    expect(JSON.stringify(rows)).toContain('Europe/Berlin');
  });

  test('a campaign of an A/B test is a conflict', async () => {
    const { api, id, schedule } = await zonedCampaign();
    const test = { campaign_id: id, sample_percent: 20, metric: 'opens', duration_hours: 24 };
    expect((await api.post('/v1/ab-tests', test)).status).toBe(201);
    const reply = await schedule({ local_time: inHours(30), time_zone_field: 'zone' });
    expect([reply.status, reply.body.error.message]).toEqual([
      409,
      'This campaign belongs to an A/B test, which sends it.',
    ]);
  });
});

/** A sending campaign to contacts with these values of a custom field, by name. Its fencing token is `first`. */
async function sendingAt(localTime: string, zones: Record<string, unknown>, timeZone = 'UTC') {
  const [projectId, groupId, id] = [newId('prj'), newId('grp'), newId('cmp')];
  await pool.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await pool.query(`INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, 'All', now())`, [
    groupId,
    projectId,
  ]);
  for (const [name, zone] of Object.entries(zones))
    await pool.query(
      `WITH contact AS (
         INSERT INTO contacts (id, project_id, email, email_key, name, source, custom_fields, updated_at)
         VALUES ($1, $2, $3, $3, $4, 'api', $6, now()) RETURNING id
       ) INSERT INTO group_members (group_id, contact_id) SELECT $5, id FROM contact`,
      [newId('ctc'), projectId, `${name}@mail.test`, name, groupId, zone === undefined ? {} : { zone }],
    );
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, fencing_token, group_ids, local_time, time_zone, time_zone_field, started_at, updated_at)
     VALUES ($1, $2, 'Local', 'News', 'sending', 'first', ARRAY[$3], $4, $5, 'zone', now(), now())`,
    [id, projectId, groupId, localTime, timeZone],
  );
  return { id, projectId };
}

async function dueTimes(id: string): Promise<Record<string, string | null>> {
  const { rows } = await pool.query<{ name: string; at: Date | null }>(
    `SELECT split_part(email, '@', 1) AS name, not_before AS at FROM messages WHERE campaign_id = $1 ORDER BY id`,
    [id],
  );
  return Object.fromEntries(rows.map(({ name, at }) => [name, at === null ? null : at.toISOString()]));
}

const counted = async (id: string) =>
  (await pool.query('SELECT at, messages FROM campaign_local_times WHERE campaign_id = $1 ORDER BY at', [id])).rows;

const claim = async (id: string, limit = 9, by: 'campaign' | 'shard' = 'campaign', token = 'first') =>
  (await claimPage(id, token, limit, false, ALL, undefined, by)).rows.map(({ email }) => email.split('@')[0]);

describe('the recipient snapshot', () => {
  test('gives each message the instant of the local time, also where clocks skip it; invalid zones are those of the campaign', async () => {
    const zones = {
      berlin: 'Europe/Berlin',
      newyork: 'America/New_York',
      tokyo: 'Asia/Tokyo',
      lower: 'asia/tokyo',
      nowhere: 'Nowhere/City',
      offset: '+09:00',
      number: 9,
      yes: true,
      long: 'Europe/Berlin'.repeat(400),
      empty: '',
      none: undefined,
    };
    const { id } = await sendingAt('2037-03-29T02:30', zones);
    expect(await snapshotRecipients(id, { rangeSize: 2 })).toEqual({ recipients: 11, suppressed: 0 });
    const utc = '2037-03-29T02:30:00.000Z';
    const [tokyo, others] = ['2037-03-28T17:30:00.000Z', { number: utc, yes: utc, long: utc, empty: utc, none: utc }];
    expect(await dueTimes(id)).toEqual({
      berlin: '2037-03-29T01:30:00.000Z', // 03:30, because clocks go from 02:00 to 03:00
      newyork: '2037-03-29T06:30:00.000Z',
      tokyo,
      lower: tokyo,
      nowhere: utc,
      offset: utc,
      ...others,
    });
    expect(await counted(id)).toEqual([
      { at: new Date(tokyo), messages: 2 },
      { at: new Date('2037-03-29T01:30:00Z'), messages: 1 },
      { at: new Date(utc), messages: 7 },
      { at: new Date('2037-03-29T06:30:00Z'), messages: 1 },
    ]);
  });

  test('takes the second of two instants when clocks are set back', async () => {
    const { id } = await sendingAt('2037-10-25T02:30', { berlin: 'Europe/Berlin', none: undefined }, 'Europe/Paris');
    await snapshotRecipients(id);
    expect(await dueTimes(id)).toEqual({ berlin: '2037-10-25T01:30:00.000Z', none: '2037-10-25T01:30:00.000Z' });
  });

  test('lets messages go at once whose local time has passed, and none to suppressed contacts', async () => {
    const zones = { kiribati: 'Pacific/Kiritimati', lost: 'Pacific/Kiritimati', later: 'UTC', gone: 'UTC' };
    const local = inHours(1);
    const { id, projectId } = await sendingAt(local, zones);
    await pool.query(
      `INSERT INTO suppressions (id, project_id, email, email_key, reason)
       SELECT postroom_id('sup'), $1, e, e, 'manual' FROM unnest('{lost@mail.test,gone@mail.test}'::text[]) AS e`,
      [projectId],
    );
    expect(await snapshotRecipients(id)).toEqual({ recipients: 4, suppressed: 2 });
    const at = `${local}:00.000Z`;
    expect(await dueTimes(id)).toEqual({ kiribati: null, lost: null, later: at, gone: null });
    expect(await counted(id)).toEqual([{ at: new Date(at), messages: 1 }]);
  });
});

describe('claims', () => {
  test('take what is due, pass what waits, and look at the recipient again when the time comes', async () => {
    const zones = {
      a: 'UTC',
      first: 'Pacific/Kiritimati',
      b: 'UTC',
      unsubscribed: 'UTC',
      deleted: 'UTC',
      c: 'Etc/GMT+3',
    };
    const { id, projectId } = await sendingAt(inHours(1), zones);
    await snapshotRecipients(id);
    expect(await claim(id)).toEqual(['first']);
    expect(await claim(id)).toEqual([]);
    const { rows } = await pool.query(
      `SELECT cursor = (SELECT max(id) FROM messages WHERE campaign_id = $1) AS passed FROM campaigns WHERE id = $1`,
      [id],
    );
    expect(rows).toEqual([{ passed: true }]);

    await pool.query(
      `INSERT INTO suppressions (id, project_id, email, email_key, reason) VALUES ($1, $2, $3, $3, 'unsubscribed')`,
      [newId('sup'), projectId, 'unsubscribed@mail.test'],
    );
    await pool.query(`DELETE FROM contacts WHERE project_id = $1 AND name = 'deleted'`, [projectId]);
    // The hour passes.
    await pool.query(
      `UPDATE messages SET not_before = not_before - interval '61 minutes' WHERE campaign_id = $1 AND not_before IS NOT NULL`,
      [id],
    );
    expect((await claim(id)).toSorted()).toEqual(['a', 'b']);
    const states = await pool.query(
      `SELECT split_part(email, '@', 1) AS name, state::text FROM messages WHERE campaign_id = $1 AND state <> 'claimed' ORDER BY id`,
      [id],
    );
    expect(states.rows).toEqual([
      { name: 'unsubscribed', state: 'suppressed' },
      { name: 'deleted', state: 'suppressed' },
      { name: 'c', state: 'planned' },
    ]);
  });

  test('do not wait for the cursor: a message that is due goes although earlier ones are not sent yet', async () => {
    const zones = { a: 'Pacific/Kiritimati', b: 'Pacific/Kiritimati', late: 'UTC' };
    const { id } = await sendingAt(inHours(1), zones);
    await snapshotRecipients(id);
    expect(await claim(id, 1)).toEqual(['a']);
    await pool.query('UPDATE messages SET not_before = now() WHERE campaign_id = $1 AND not_before IS NOT NULL', [id]);
    expect(await claim(id, 1)).toEqual(['late']);
    expect(await claim(id, 1)).toEqual(['b']);
  });

  test('of a shard pass what waits, and take it with the run when it is due', async () => {
    const first = 'Pacific/Kiritimati';
    const zones = { a: first, x: 'UTC', b: first, y: 'UTC' };
    const { id } = await sendingAt(inHours(1), zones);
    await snapshotRecipients(id);
    await openShard({ id, run: 1 }, 'shard');
    const range = await extendShard(id, 'shard', 10);
    const { rows } = await claimPage(
      id,
      'shard',
      9,
      false,
      { ...ALL, position: range?.until ?? '' },
      undefined,
      'shard',
    );
    expect(rows.map(({ email }) => email)).toEqual(['a@mail.test', 'b@mail.test']);
    // Its range is used up, so it may take the next one.
    expect(await extendShard(id, 'shard', 10)).toEqual({ until: null, after: range?.until });
    await pool.query('UPDATE messages SET not_before = now() WHERE campaign_id = $1 AND not_before IS NOT NULL', [id]);
    expect(await claim(id, 9, 'shard', 'shard')).toEqual([]);
    const due = { ...ALL, withDue: true };
    const byShard = await claimPage(id, 'shard', 1, false, due, undefined, 'shard');
    const shared = [
      ...byShard.rows.map(({ email }) => email),
      ...(await claim(id, 1)).map((name) => `${name}@mail.test`),
    ];
    expect(shared.toSorted()).toEqual(['x@mail.test', 'y@mail.test']);
    expect((await claimPage(id, 'shard', 9, false, due, undefined, 'shard')).rows).toEqual([]);
  });

  test('of shards and of the run, at the same time, take each message that is due once', async () => {
    const readers = Array.from({ length: 200 }, (_, index) => [`x${index}`, index % 2 === 0 ? 'UTC' : 'Etc/GMT+3']);
    const { id, projectId } = await sendingAt(inHours(1), Object.fromEntries(readers));
    await snapshotRecipients(id);
    await pool.query(
      `UPDATE messages SET not_before = now() WHERE campaign_id = $1 AND not_before < now() + interval '2 hours'`,
      [id],
    );
    for (const token of ['a', 'b']) await openShard({ id, run: 1 }, `${id} ${token}`);
    const claimers: { token: string; by: 'campaign' | 'shard'; capped?: Capped }[] = [
      { token: 'first', by: 'campaign' },
      { token: `${id} a`, by: 'shard' },
      { token: `${id} b`, by: 'shard', capped: { projectId, messages: 1, days: 7 } },
    ];
    const claimed: string[][] = [[], [], []];
    const claimMore = async (index: number) => {
      const { token, by, capped } = claimers[index] as (typeof claimers)[number];
      const page = await claimPage(id, token, 3, false, { ...ALL, position: '', withDue: true }, capped, by);
      claimed[index]?.push(...page.rows.map((row) => row.id));
      return page.rows.length > 0;
    };
    // Rounds begin together, so that each finds rows that others lock or have changed since it began.
    while ((await Promise.all([claimMore(0), claimMore(1), claimMore(2)])).some(Boolean));
    expect(claimed.filter((ids) => ids.length > 0)).toHaveLength(3);
    expect(claimed.flat()).toHaveLength(100);
    expect(new Set(claimed.flat()).size).toBe(100);
    const { rows } = await pool.query(
      `SELECT c.claimed_count AS run, array_agg(s.claimed_count ORDER BY s.fencing_token) AS shards
       FROM campaigns c JOIN campaign_shards s ON s.campaign_id = c.id WHERE c.id = $1 GROUP BY c.id`,
      [id],
    );
    expect(rows).toEqual([{ run: claimed[0]?.length, shards: [claimed[1]?.length, claimed[2]?.length] }]);
  });

  test('are repeated after a second while there are shards, which may return messages or die', async () => {
    const { id } = await sendingAt(inHours(1), { late: 'UTC' });
    await snapshotRecipients(id);
    expect(await claim(id)).toEqual([]);
    await openShard({ id, run: 1 }, `${id} a`);
    expect((await pauseAfterErrors({ id, run: 1 }, 'The test pauses it.')).waitMs).toBe(1_000);
    await endShards(id, 'all');
    expect((await pauseAfterErrors({ id, run: 1 }, 'The test pauses it.')).waitMs).toBeGreaterThan(1_000_000);
  });

  test('are worth sharing once enough is due', async () => {
    const { id, projectId } = await sendingAt(inHours(1), {});
    await pool.query(
      `INSERT INTO messages (id, project_id, campaign_id, email, not_before)
       SELECT postroom_id('eml'), $1, $2, 'x' || i || '@mail.test', now() + interval '1 hour' FROM generate_series(1, $3) AS i`,
      [projectId, id, MAIL_POLICY.shard.minLeft + 1],
    );
    await pool.query(`UPDATE campaigns SET cursor = '~' WHERE id = $1`, [id]);
    expect(await isWorthSharding(id, 1)).toBe(false);
    await pool.query('UPDATE messages SET not_before = now() WHERE campaign_id = $1', [id]);
    expect([await isWorthSharding(id, 1), await isWorthSharding(id, 0.5)]).toEqual([true, false]);
    await pool.query('UPDATE campaigns SET time_zone_field = NULL WHERE id = $1', [id]);
    expect(await isWorthSharding(id, 1)).toBe(false);
  });
});

test('after a restore to a point at which recipients were still being counted, the campaign is paused', async () => {
  const { id } = await sendingAt(inHours(1), { a: 'UTC', b: 'UTC', c: 'UTC' });
  await snapshotRecipients(id, { isFirst: true, rangeSize: 2 });
  const { rows } = await pool.query<{ id: string }>('SELECT max(id) AS id FROM messages WHERE campaign_id = $1', [id]);
  const reservation: Reservation = {
    scope: `campaign ${id}`,
    position: rows[0]?.id ?? '',
    until: new Date().toISOString(),
    epoch: 1,
    number: 1,
  };
  expect(await pauseUncertain(reservation)).toContain('Some of its mail may have been sent');
  await pool.query(`UPDATE campaigns SET status = 'sending' WHERE id = $1`, [id]);
  await snapshotRecipients(id);
  expect(await pauseUncertain(reservation)).toBeUndefined();
});
