import { newId, pool, sql } from '@postroom/platform';
import { type Api, eventually, interleave, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { startScheduled } from '../src/sending.ts';
import { readyCampaign } from './ready-campaign.ts';

const eventsOf = async (api: Api) => (await api.events()).filter(({ type }) => type.startsWith('campaign.'));

test('a pause, a resumption and a cancellation each record one event, however many requests come at once', async () => {
  const { api, campaign } = await readyCampaign();
  const path = `/v1/campaigns/${campaign.id}`;
  expect((await api.post(`${path}/send`)).status).toBe(202);
  for (const command of ['pause', 'resume', 'cancel']) {
    const replies = await Promise.all(Array.from({ length: 4 }, () => api.post(`${path}/${command}`)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  }
  const data = { campaign_id: campaign.id, name: 'News' };
  expect((await eventsOf(api)).map(({ type, data }) => ({ type, data }))).toEqual([
    { type: 'campaign.paused_manually', data },
    { type: 'campaign.resumed', data },
    { type: 'campaign.canceled', data },
  ]);
});

test('scheduling, rescheduling and unscheduling each record one event, a refused request none', async () => {
  const { api, campaign } = await readyCampaign();
  const path = `/v1/campaigns/${campaign.id}`;
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const [first, second] = [at(1), at(2)];
  for (const scheduled_at of [first, second])
    expect((await api.post(`${path}/schedule`, { scheduled_at })).status).toBe(200);
  expect((await api.post(`${path}/schedule`, { scheduled_at: at(-1) })).status).toBe(400);
  const replies = await Promise.all([1, 2, 3].map(() => api.post(`${path}/unschedule`)));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  const data = { campaign_id: campaign.id, name: 'News' };
  expect((await eventsOf(api)).map(({ type, data }) => ({ type, data }))).toEqual([
    { type: 'campaign.scheduled', data: { ...data, scheduled_at: first } },
    { type: 'campaign.scheduled', data: { ...data, scheduled_at: second } },
    { type: 'campaign.unscheduled', data },
  ]);
});

test('a campaign that could not start at its time is resumed with an event once what kept it is corrected', async () => {
  const { api, campaign } = await readyCampaign();
  const path = `/v1/campaigns/${campaign.id}`;
  const scheduledAt = new Date(Date.now() + 3_600_000);
  expect((await api.post(`${path}/schedule`, { scheduled_at: scheduledAt.toISOString() })).status).toBe(200);
  await pool.query('UPDATE domains SET blocked_at = now() WHERE project_id = $1', [api.projectId]);
  expect(await startScheduled(campaign.id, scheduledAt)).toBe('paused');
  expect((await api.post(`${path}/resume`)).status).toBe(403);
  await pool.query('UPDATE domains SET blocked_at = NULL WHERE project_id = $1', [api.projectId]);
  const replies = await Promise.all([api.post(`${path}/resume`), api.post(`${path}/resume`)]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await eventsOf(api)).map(({ type }) => type)).toEqual([
    'campaign.scheduled',
    'campaign.paused',
    'campaign.resumed',
  ]);
});

test('the outcomes of many messages are resolved in several transactions', async () => {
  const [api, id, count] = [await testApi(), newId('cmp'), 12_000];
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, recipient_count, unknown_count, updated_at)
     VALUES ($1, $2, 'News', 'News', 'completed', $3, $3, now())`,
    [id, api.projectId, count],
  );
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, claim, claimed_at, unsent_at)
     SELECT postroom_id('eml'), $1, $2, postroom_id('ctc'), 'r' || n || '@mail.test', 'unknown', 'old', now(), now()
     FROM generate_series(1, $3::int) n`,
    [api.projectId, id, count],
  );
  const accepted = async () => {
    const { rows } = await pool.query(
      `SELECT count(*)::int FROM messages WHERE campaign_id = $1 AND state = 'accepted'`,
      [id],
    );
    return rows[0].count as number;
  };
  const reply = await interleave(
    (tx) => sql(tx, 'SELECT FROM messages WHERE campaign_id = $1 ORDER BY id DESC LIMIT 1 FOR UPDATE', [id]),
    () => api.post(`/v1/campaigns/${id}/recipients/resolve`, { outcome: 'accepted' }),
    () => eventually(async () => expect(await accepted()).toBe(10_000)),
  );
  expect(reply.body).toMatchObject({ recipients: count });
  expect(await accepted()).toBe(count);
});
