import { pool, sql } from '@postroom/platform';
import { interleave } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { startScheduled } from '../src/sending.ts';
import { readyCampaign } from './ready-campaign.ts';

/** A campaign whose scheduled time has come. */
async function dueCampaign() {
  const { api, campaign, group } = await readyCampaign();
  const scheduledAt = new Date(Date.now() + 3_600_000);
  const reply = await api.post(`/v1/campaigns/${campaign.id}/schedule`, { scheduled_at: scheduledAt.toISOString() });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  const lock = 'SELECT FROM campaigns WHERE id = $1 FOR UPDATE';
  return { api, group, id: campaign.id as string, scheduledAt, lock };
}

test.each([
  ['unscheduled', `status = 'draft', scheduled_at = NULL`, 'draft'],
  ['rescheduled', `scheduled_at = now() + interval '2 days'`, 'scheduled'],
])('a campaign that is %s while it is being started is not sent', async (_, change, status) => {
  const { id, scheduledAt, lock } = await dueCampaign();
  const outcome = await interleave(
    (tx) => sql(tx, lock, [id]),
    () => startScheduled(id, scheduledAt),
    (tx) => sql(tx, `UPDATE campaigns SET ${change}, updated_at = now() + interval '1 second' WHERE id = $1`, [id]),
  );
  expect(outcome).toBe('moved');
  const { rows } = await pool.query('SELECT status, started_at FROM campaigns WHERE id = $1', [id]);
  expect(rows).toEqual([{ status, started_at: null }]);
});

test('a campaign that is edited while it is being started is sent as edited', async () => {
  const { id, scheduledAt, lock } = await dueCampaign();
  const outcome = await interleave(
    (tx) => sql(tx, lock, [id]),
    () => startScheduled(id, scheduledAt),
    (tx) =>
      sql(tx, `UPDATE campaigns SET subject = 'Edited', updated_at = now() + interval '1 second' WHERE id = $1`, [id]),
  );
  expect(outcome).toBe('started');
  const { rows } = await pool.query('SELECT status, subject FROM campaigns WHERE id = $1', [id]);
  expect(rows).toEqual([{ status: 'sending', subject: 'Edited' }]);
});

test('a campaign that could not start at its time says what is missing, and becomes a draft again to be corrected and sent', async () => {
  const { api, id, group, scheduledAt } = await dueCampaign();
  await api.delete(`/v1/groups/${group.id}`);
  expect(await startScheduled(id, scheduledAt)).toBe('paused');
  const path = `/v1/campaigns/${id}`;
  const reason = `The campaign could not start at its scheduled time. groups: a group was deleted.`;
  expect((await api.get(path)).body.data).toMatchObject({ status: 'paused', pauseReason: reason });
  expect((await api.events('campaign.paused')).map(({ data }) => data['reason'])).toEqual([reason]);

  const other = await api.contact('other@example.net');
  const instead = (await api.post('/v1/groups', { name: 'Other', contact_ids: [other.id] })).body.data;
  const edit = () => api.patch(path, { group_ids: [instead.id] });
  expect((await edit()).body.error.message).toContain('unschedule it first');
  expect((await api.post(`${path}/send`)).body.error.message).toContain('or unschedule it to edit it');
  expect((await api.post(`${path}/unschedule`)).body.data).toMatchObject({
    status: 'draft',
    scheduledAt: null,
    pauseReason: null,
  });
  expect((await edit()).status).toBe(200);
  expect((await api.post(`${path}/send`)).status).toBe(202);
  expect((await api.post(`${path}/unschedule`)).status).toBe(409);
});

test('a campaign that was paused while it was sent cannot become a draft', async () => {
  const { api, campaign } = await readyCampaign();
  const path = `/v1/campaigns/${campaign.id}`;
  expect((await api.post(`${path}/send`)).status).toBe(202);
  expect((await api.post(`${path}/pause`)).status).toBe(200);
  expect((await api.post(`${path}/unschedule`)).status).toBe(409);
  expect((await api.patch(path, { subject: 'New' })).body.error.message).toBe(
    'Only a draft or scheduled campaign can be edited.',
  );
});

test('the reason why a campaign could not start uses no names of the API', async () => {
  const { api, id, scheduledAt } = await dueCampaign();
  const incomplete = { group_ids: [], from_email: null, html: null };
  expect((await api.patch(`/v1/campaigns/${id}`, incomplete)).status).toBe(200);
  expect(await startScheduled(id, scheduledAt)).toBe('paused');
  expect((await api.get(`/v1/campaigns/${id}`)).body.data.pauseReason).toBe(
    'The campaign could not start at its scheduled time. from email: is required; content: is required, unless a template is chosen; recipients: must be at least one contact, in groups or segments.',
  );
});

test('a campaign that could not start at its time is not paused if it was rescheduled meanwhile', async () => {
  const { api, id, group, scheduledAt, lock } = await dueCampaign();
  await api.delete(`/v1/groups/${group.id}`);
  const outcome = await interleave(
    (tx) => sql(tx, lock, [id]),
    () => startScheduled(id, scheduledAt),
    (tx) => sql(tx, `UPDATE campaigns SET scheduled_at = now() + interval '2 days' WHERE id = $1`, [id]),
  );
  expect(outcome).toBe('moved');
  const { rows } = await pool.query('SELECT status, pause_reason FROM campaigns WHERE id = $1', [id]);
  expect(rows).toEqual([{ status: 'scheduled', pause_reason: null }]);
});
