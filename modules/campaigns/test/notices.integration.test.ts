import { db, pool } from '@postroom/platform';
import { signedIn } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { autoPause, pauseOverThreshold } from '../src/send-monitor.ts';
import { readyCampaign } from './ready-campaign.ts';

const LIST = '{ notifications { nodes { kind subjectId title detail } } }';

test('an automatic pause notifies once, however many checks find the reason at the same time', async () => {
  const { api, campaign } = await readyCampaign();
  const owner = await signedIn(api);
  await db.campaign.update({ where: { id: campaign.id }, data: { status: 'sending' } });
  await Promise.all(
    Array.from({ length: 5 }, () => autoPause(campaign.id, 'The mail server rejects our credentials.')),
  );
  expect((await owner.graphql(LIST)).body.data.notifications.nodes).toEqual([
    {
      kind: 'campaign_paused',
      subjectId: campaign.id,
      title: 'The campaign "News" was paused',
      detail: 'The mail server rejects our credentials.',
    },
  ]);
});

test('a campaign that a user pauses notifies nobody', async () => {
  const { api, campaign } = await readyCampaign();
  const owner = await signedIn(api);
  await db.campaign.update({ where: { id: campaign.id }, data: { status: 'sending', startedAt: new Date() } });
  await api.post(`/v1/campaigns/${campaign.id}/pause`);
  await autoPause(campaign.id, 'Too late.');
  expect((await owner.graphql(LIST)).body.data.notifications.nodes).toEqual([]);
});

test('a completed campaign that reaches a limit notifies once that its sender is blocked', async () => {
  const { api, campaign } = await readyCampaign();
  const owner = await signedIn(api);
  await pool.query(
    `UPDATE campaigns SET status = 'completed', completed_at = now(), accepted_count = 1000, bounced_count = 60 WHERE id = $1`,
    [campaign.id],
  );
  await Promise.all([pauseOverThreshold(campaign.id), pauseOverThreshold(campaign.id)]);
  const { nodes } = (await owner.graphql(LIST)).body.data.notifications;
  expect(nodes).toMatchObject([
    { kind: 'sender_blocked', subjectId: campaign.id, title: 'Campaigns from example.com are blocked' },
  ]);
  expect(nodes[0].detail).toContain('60 of 1,000 messages bounced');
});
