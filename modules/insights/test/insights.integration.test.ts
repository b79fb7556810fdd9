import { newId, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const ACTIVITY = 'query ($id: ID!) { contact(id: $id) { activity { type detail subject messageId } } }';
const STATISTICS = `query ($since: DateTime!, $step: StatisticsStep!, $timeZone: String) {
  statistics(since: $since, step: $step, timeZone: $timeZone) { at added unsubscribed sent rejected }
}`;

test("a contact's activity lists its creation, messages and suppressions, newest first", async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const message = newId('eml');
  await pool.query(
    `INSERT INTO messages (id, project_id, contact_id, email, subject, state, accepted_at, opened_at, answer)
     VALUES ($1, $2, $3, 'ada@example.com', 'Hello', 'accepted', now() + '1 min', now() + '2 min', '250 ok')`,
    [message, api.projectId, ada.id],
  );
  await api.patch(`/v1/contacts/${ada.id}`, { subscribed: false });
  const { body } = await api.graphql(ACTIVITY, { id: ada.id });
  expect(body.data.contact.activity).toEqual([
    { type: 'email.opened', detail: null, subject: 'Hello', messageId: message },
    { type: 'email.sent', detail: '250 ok', subject: 'Hello', messageId: message },
    { type: 'contact.suppressed', detail: 'unsubscribed', subject: null, messageId: null },
    { type: 'contact.created', detail: 'api', subject: null, messageId: null },
  ]);
});

test.each([
  {
    causedBy: 'contact.unsubscribed',
    columns: "state = 'accepted', accepted_at = s.created_at, unsubscribed_at = s.created_at",
  },
  { causedBy: 'email.failed', columns: "state = 'failed', unsent_at = s.created_at" },
])('a suppression comes after the event of the same time that caused it: $causedBy', async ({ causedBy, columns }) => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const message = newId('eml');
  await pool.query(
    "INSERT INTO messages (id, project_id, contact_id, email, state) VALUES ($1, $2, $3, 'ada@example.com', 'planned')",
    [message, api.projectId, ada.id],
  );
  await api.patch(`/v1/contacts/${ada.id}`, { subscribed: false });
  await pool.query(`UPDATE messages SET ${columns} FROM suppressions s WHERE s.project_id = $1 AND messages.id = $2`, [
    api.projectId,
    message,
  ]);
  const { body } = await api.graphql(ACTIVITY, { id: ada.id });
  const types = (body.data.contact.activity as { type: string }[]).map(({ type }) => type);
  expect(types.slice(0, 2)).toEqual(['contact.suppressed', causedBy]);
});

test('statistics count events per day, without gaps and without other projects', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const ada = await api.contact('ada@example.com');
  await other.contact('bob@example.com');
  await api.patch(`/v1/contacts/${ada.id}`, { subscribed: false });
  await pool.query(`INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'email.rejected', '{}')`, [
    newId('evt'),
    api.projectId,
  ]);
  const since = new Date(Date.now() - 6 * 86_400_000).toISOString();
  const { body } = await api.graphql(STATISTICS, { since, step: 'day' });
  const points = body.data.statistics;
  expect(points).toHaveLength(7);
  expect(points.at(-1)).toMatchObject({ added: 1, unsubscribed: 1, sent: 0, rejected: 1 });
  expect(points.slice(0, -1).every(({ added }: { added: number }) => added === 0)).toBe(true);
});

test('days start at midnight in the time zone', async () => {
  const api = await testApi();
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const { body } = await api.graphql(STATISTICS, { since, step: 'day', timeZone: 'Asia/Kolkata' });
  expect(body.data.statistics.every(({ at }: { at: string }) => at.endsWith('T18:30:00.000Z'))).toBe(true);
});

test('time zones that PostgreSQL does not know, or reads differently, mean what they mean in browsers', async () => {
  const api = await testApi();
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const startsIn = async (timeZone: string) => {
    const { body } = await api.graphql(STATISTICS, { since, step: 'day', timeZone });
    return [...new Set(body.data.statistics.map(({ at }: { at: string }) => at.slice(10)))];
  };
  expect(await startsIn('AGT')).toEqual(['T03:00:00.000Z']);
  // Indian time in browsers, that of Israel in PostgreSQL.
  expect(await startsIn('IST')).toEqual(['T18:30:00.000Z']);
});

test('too many points, unknown time zones and offsets are refused', async () => {
  const api = await testApi();
  const since = new Date(Date.now() - 100 * 86_400_000).toISOString();
  for (const variables of [
    { since, step: 'hour' },
    { since, step: 'day', timeZone: 'Moon/Crater' },
    // An hour east of UTC in ISO 8601, and west of it in POSIX.
    { since, step: 'day', timeZone: '+01:00' },
  ]) {
    const { body } = await api.graphql(STATISTICS, variables);
    expect(body.errors[0].extensions.code).toBe('validation_error');
  }
});

test("a campaign's outcomes are counted per hour from its start, without gaps, and not across projects", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { id } = (await api.post('/v1/campaigns', { name: 'News', subject: 'News' })).body.data;
  const hours = async (caller = api) =>
    (await caller.graphql('query ($id: ID!) { campaignHours(id: $id) { at delivered opened clicked } }', { id })).body;
  expect((await hours()).data.campaignHours).toEqual([]);
  await pool.query(`UPDATE campaigns SET started_at = now() - interval '5 hours' WHERE id = $1`, [id]);
  const message = `INSERT INTO messages (id, project_id, campaign_id, email, state, accepted_at, delivered_at, opened_at, clicked_at)
    SELECT postroom_id('eml'), $1, $2, 'ada@example.com', 'accepted', at, at, at + interval '2 hours', NULL
    FROM (SELECT date_trunc('hour', now()) - interval '4 hours' AS at) AS time, generate_series(1, 3)`;
  await pool.query(message, [api.projectId, id]);
  const points = (await hours()).data.campaignHours as { delivered: number; opened: number; clicked: number }[];
  expect(points).toHaveLength(6);
  expect(points.map(({ delivered }) => delivered)).toEqual([0, 3, 0, 0, 0, 0]);
  expect(points.map(({ opened }) => opened)).toEqual([0, 0, 0, 3, 0, 0]);
  expect((await hours(other)).errors[0].extensions.code).toBe('not_found');
});

test('statistics end before `until`', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  const UNTIL = `query ($since: DateTime!, $until: DateTime) {
    statistics(since: $since, until: $until, step: day) { at added }
  }`;
  const day = (ago: number) => new Date(Math.floor(Date.now() / 86_400_000 - ago) * 86_400_000).toISOString();
  const statistics = async (since: string, until: string | null) =>
    (await api.graphql(UNTIL, { since, until })).body as {
      data: { statistics: { at: string; added: number }[] };
      errors: { extensions: { code: string } }[];
    };
  const past = (await statistics(day(3), day(0))).data.statistics;
  expect(past.map(({ at }) => at)).toEqual([day(3), day(2), day(1)]);
  expect(past.every(({ added }) => added === 0)).toBe(true);
  expect((await statistics(day(3), day(-1))).data.statistics.at(-1)).toMatchObject({ added: 1 });
  expect((await statistics(day(700), day(600))).data.statistics).toHaveLength(100);
  for (const [since, until] of [
    [day(1), day(2)],
    [day(700), day(200)],
  ] as const)
    expect((await statistics(since, until)).errors[0]?.extensions.code).toBe('validation_error');
});

test('how a campaign was sent is counted by minute, or by longer periods if it took long', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { id } = (await api.post('/v1/campaigns', { name: 'News', subject: 'News' })).body.data;
  const MINUTES = 'query ($id: ID!) { campaignMinutes(id: $id) { at minutes sent failed bounced } }';
  const minutes = async (caller = api) => (await caller.graphql(MINUTES, { id })).body;
  expect((await minutes()).data.campaignMinutes).toEqual([]);
  const start = new Date('2026-11-20T10:00:30Z');
  await pool.query('UPDATE campaigns SET started_at = $2 WHERE id = $1', [id, start]);
  const message = (state: string, columns: Record<string, number>) =>
    pool.query(
      `INSERT INTO messages (id, project_id, campaign_id, email, state, ${Object.keys(columns).join(', ')})
       VALUES (postroom_id('eml'), $1, $2, 'ada@example.com', $3::message_state, ${Object.keys(columns)
         .map((_, index) => `$${index + 4}`)
         .join(', ')})`,
      [api.projectId, id, state, ...Object.values(columns).map((later) => new Date(start.getTime() + later * 1000))],
    );
  await message('accepted', { accepted_at: 5 });
  await message('accepted', { accepted_at: 125, bounced_at: 130 });
  await message('failed', { unsent_at: 128 });
  await message('suppressed', { unsent_at: 600 });
  const at = (minute: number) => new Date(Date.parse('2026-11-20T10:00:00Z') + minute * 60_000).toISOString();
  expect((await minutes()).data.campaignMinutes).toEqual([
    { at: at(0), minutes: 1, sent: 1, failed: 0, bounced: 0 },
    { at: at(1), minutes: 1, sent: 0, failed: 0, bounced: 0 },
    { at: at(2), minutes: 1, sent: 1, failed: 1, bounced: 1 },
  ]);
  await message('accepted', { accepted_at: 4 * 3600 });
  // Only updates of messages are counted; the next read counts all of them again.
  await pool.query('UPDATE campaigns SET is_counted = false WHERE id = $1', [id]);
  const long = (await minutes()).data.campaignMinutes;
  expect(long).toHaveLength(49);
  expect(long[0]).toEqual({ at: at(0), minutes: 5, sent: 2, failed: 1, bounced: 1 });
  expect((await minutes(other)).errors[0].extensions.code).toBe('not_found');
});
