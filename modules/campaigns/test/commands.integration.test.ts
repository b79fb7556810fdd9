import { pool } from '@postroom/platform';
import { type Api } from '@postroom/testkit';
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
