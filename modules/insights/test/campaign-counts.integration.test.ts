import { recordReports } from '@postroom/bounces';
import { deleteRecipients, requeuePage, resolvePage, settle } from '@postroom/ledger';
import { inTransaction, newId, pool, sql } from '@postroom/platform';
import { erasePerson } from '@postroom/privacy';
import { testApi } from '@postroom/testkit';
import { classifyHits } from '@postroom/tracking';
import { expect, test } from 'vitest';
import { countCampaigns } from '../src/campaign-counts.ts';
import { campaignHours } from '../src/campaign-hours.ts';
import { campaignMinutes } from '../src/campaign-minutes.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A campaign that started at `start`, with `count` claimed messages. */
async function campaignOf(count: number, start: number, { isCounted = true } = {}) {
  const { projectId } = await testApi();
  const id = newId('cmp');
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, started_at, is_counted, recipient_count, claimed_count, updated_at)
     VALUES ($1, $2, 'News', 'News', 'paused', $3, $4, $5, $5, now())`,
    [id, projectId, new Date(start), isCounted, count],
  );
  const ids = Array.from({ length: count }, () => newId('eml'));
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, claim, claimed_at)
     SELECT id, $2, $3, 'ctc_' || right(id, 26), 'r' || n || '@mail.test', 'claimed', 'claim', $4
     FROM unnest($1::text[]) WITH ORDINALITY AS t(id, n)`,
    [ids, projectId, id, new Date(start)],
  );
  return { projectId, id, ids };
}

interface Row {
  state: string;
  accepted_at: Date | null;
  unsent_at: Date | null;
  bounced_at: Date | null;
  delivered_at: Date | null;
  opened_at: Date | null;
  clicked_at: Date | null;
  complained_at: Date | null;
  unsubscribed_at: Date | null;
}

/** Both series of a campaign that started at `start`, counted from its messages without the database. */
async function expected(id: string, start: number) {
  const { rows } = await pool.query<Row>('SELECT * FROM messages WHERE campaign_id = $1', [id]);
  const floor = (time: number, length: number) => Math.floor(time / length) * length;
  const numberOf = (times: (Date | null)[], at: number, length: number) =>
    times.filter((time) => time !== null && floor(time.getTime(), length) === at).length;
  const first = floor(start, HOUR_MS);
  const hours = Array.from({ length: Math.min(72, Math.floor((Date.now() - first) / HOUR_MS) + 1) }, (_, hour) => {
    const at = first + hour * HOUR_MS;
    const of = (column: Exclude<keyof Row, 'state'>) =>
      numberOf(
        rows.map((row) => row[column]),
        at,
        HOUR_MS,
      );
    return {
      at: new Date(at),
      delivered: of('delivered_at'),
      opened: of('opened_at'),
      clicked: of('clicked_at'),
      bounced: of('bounced_at'),
      complained: of('complained_at'),
      unsubscribed: of('unsubscribed_at'),
    };
  });
  const sent = rows.map((row) => row.accepted_at);
  const failed = rows.map((row) => (row.state === 'failed' ? row.unsent_at : null));
  const inTime = (time: Date | null) => time !== null && time.getTime() < floor(start, MINUTE_MS) + 72 * HOUR_MS;
  const last = Math.max(...[...sent, ...failed].filter(inTime).map((time) => time!.getTime()));
  const total = (floor(last, MINUTE_MS) - floor(start, MINUTE_MS)) / MINUTE_MS + 1;
  const minutes = [1, 5, 15, 60].find((length) => total / length <= 120) ?? 60;
  const begin = floor(start, MINUTE_MS);
  const series = Array.from({ length: Number.isFinite(last) ? Math.ceil(total / minutes) : 0 }, (_, period) => {
    const at = begin + period * minutes * MINUTE_MS;
    const of = (times: (Date | null)[]) =>
      times.filter((time) => inTime(time) && time!.getTime() >= at && time!.getTime() < at + minutes * MINUTE_MS)
        .length;
    return {
      at: new Date(at),
      minutes,
      sent: of(sent),
      failed: of(failed),
      bounced: of(rows.map((row) => row.bounced_at)),
    };
  });
  return { hours, minutes: series };
}

const charts = async (projectId: string, id: string) => ({
  hours: await campaignHours(projectId, id),
  minutes: await campaignMinutes(projectId, id),
});

/** Random numbers that repeat with the seed. */
function randomOf(seed: number) {
  let state = seed;
  return (limit: number) => (state = (state * 48_271) % 2_147_483_647) % limit;
}

const TIMES = [
  'accepted_at',
  'unsent_at',
  'bounced_at',
  'delivered_at',
  'opened_at',
  'clicked_at',
  'complained_at',
  'unsubscribed_at',
];
const STATES = ['planned', 'claimed', 'accepted', 'failed', 'unknown'];

test('charts are what a count of every message gives, whatever changes in any of their columns', async () => {
  const start = Date.now() - 80 * HOUR_MS;
  const [one, other] = [await campaignOf(60, start), await campaignOf(60, start, { isCounted: false })];
  const random = randomOf(11);
  const ids = [...one.ids, ...other.ids];
  const both = [one.id, other.id];
  for (let round = 0; round < 13; round++) {
    const changes = Array.from({ length: 4 }, async () => {
      const some = ids.filter(() => random(8) === 0);
      const [column, state] = [TIMES[random(TIMES.length)], STATES[random(STATES.length)]];
      const time = random(5) === 0 ? null : new Date(start + random(79 * HOUR_MS));
      const isTwice = random(6) === 0;
      await inTransaction(async (tx) => {
        await sql(tx, 'SELECT FROM messages WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE', [some]);
        // Each statement locks the campaigns that it counts for, in their order; two statements might lock them in another.
        if (isTwice) await sql(tx, 'SELECT FROM campaigns WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE', [both]);
        await sql(tx, `UPDATE messages SET state = $2::message_state, ${column} = $3 WHERE id = ANY ($1)`, [
          some,
          state,
          time,
        ]);
        if (isTwice) await sql(tx, 'UPDATE messages SET opened_at = now() WHERE id = ANY ($1)', [some]);
      });
    });
    // The one that is not counted yet is counted while its messages change.
    await Promise.all([
      ...changes,
      ...(round === 5 ? [countCampaigns(), campaignHours(other.projectId, other.id)] : []),
    ]);
    if (round % 4 > 0) continue;
    for (const { projectId, id } of round < 5 ? [one] : [one, other])
      expect(await charts(projectId, id), `round ${round}`).toEqual(await expected(id, start));
  }
});

test('charts follow retries, late bounces, bots and erasures, and outlive the messages', async () => {
  const start = Date.now() - 2 * HOUR_MS;
  const { projectId, id, ids } = await campaignOf(8, start);
  const check = async () => {
    const counted = await charts(projectId, id);
    expect(counted).toEqual(await expected(id, start));
    const sum = (field: string) =>
      [...counted.hours, ...counted.minutes].reduce(
        (total, point) => total + Number({ ...point }[field as 'at'] ?? 0),
        0,
      );
    return { sent: sum('sent'), failed: sum('failed'), delivered: sum('delivered'), opened: sum('opened') };
  };
  await settle('claim', [
    ...ids.slice(0, 4).map((each) => ({ id: each, state: 'accepted' as const, answer: '250 Ok' })),
    ...ids.slice(4, 6).map((each) => ({ id: each, state: 'failed' as const, answer: '550 No' })),
    ...ids.slice(6).map((each) => ({ id: each, state: 'unknown' as const, answer: null })),
  ]);
  expect(await check()).toMatchObject({ sent: 4, failed: 2 });
  await inTransaction((tx) => requeuePage(tx, { campaignId: id, ids: null, after: '' }, 'failed'));
  await inTransaction((tx) => resolvePage(tx, { campaignId: id, ids: [ids[6]!], after: '' }, 'failed'));
  expect(await check()).toMatchObject({ sent: 4, failed: 1 });

  const late = new Date(start + 30 * MINUTE_MS);
  await inTransaction((tx) =>
    recordReports(tx, [
      { messageId: ids[0]!, kind: 'delivered', at: new Date(), detail: undefined },
      { messageId: ids[1]!, kind: 'bounced', at: late, detail: '550 5.1.1 No such user' },
      { messageId: ids[7]!, kind: 'bounced', at: late, detail: '550 5.1.1 No such user' },
    ]),
  );
  expect(await check()).toMatchObject({ sent: 5, delivered: 1 });

  await pool.query(`UPDATE messages SET accepted_at = accepted_at - interval '1 hour' WHERE campaign_id = $1`, [id]);
  await pool.query(
    `INSERT INTO tracking_hits (message_id, kind, at, reason) VALUES ($1, 'open', now() - interval '1 minute', NULL),
       ($2, 'open', now() - interval '1 minute', 'proxy')`,
    [ids[0], ids[2]],
  );
  await expect.poll(async () => (await classifyHits(), (await check()).opened), { timeout: 20_000 }).toBe(1);

  const before = await charts(projectId, id);
  await erasePerson(projectId, { email: 'r1@mail.test' });
  expect(await charts(projectId, id)).toEqual(before);
  await check();
  await deleteRecipients(id);
  expect(await charts(projectId, id)).toEqual(before);
});
