import { newId, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const ACTIVITY = 'query ($id: ID!) { contact(id: $id) { activity { type detail subject messageId } } }';
const STATISTICS = `query ($since: DateTime!, $step: StatisticsStep!, $timeZone: String) {
  statistics(since: $since, step: $step, timeZone: $timeZone) { at added unsubscribed sent }
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

test('statistics count events per day, without gaps and without other projects', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const ada = await api.contact('ada@example.com');
  await other.contact('bob@example.com');
  await api.patch(`/v1/contacts/${ada.id}`, { subscribed: false });
  const since = new Date(Date.now() - 6 * 86_400_000).toISOString();
  const { body } = await api.graphql(STATISTICS, { since, step: 'day' });
  const points = body.data.statistics;
  expect(points).toHaveLength(7);
  expect(points.at(-1)).toMatchObject({ added: 1, unsubscribed: 1, sent: 0 });
  expect(points.slice(0, -1).every(({ added }: { added: number }) => added === 0)).toBe(true);
});

test('days start at midnight in the time zone', async () => {
  const api = await testApi();
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const { body } = await api.graphql(STATISTICS, { since, step: 'day', timeZone: 'Asia/Kolkata' });
  expect(body.data.statistics.every(({ at }: { at: string }) => at.endsWith('T18:30:00.000Z'))).toBe(true);
});

test('too many points and unknown time zones are refused', async () => {
  const api = await testApi();
  const since = new Date(Date.now() - 100 * 86_400_000).toISOString();
  for (const variables of [
    { since, step: 'hour' },
    { since, step: 'day', timeZone: 'Moon/Crater' },
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
