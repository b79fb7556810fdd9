import { eventually, mailSystem, type SystemApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { campaignKit } from '@postroom/campaigns/testing';

const RECIPIENTS = 600;

const { sink, system } = await mailSystem();
const { campaignTo, read, untilStatus, taken } = campaignKit(() => ({ system, sink }));

/** Starts a test of a campaign, without a worker, so that its time can be shortened before its workflow reads it. */
async function startTest(api: SystemApi, campaign: string, seconds: number) {
  const { id, variantIds } = (
    await api.post('/v1/ab-tests', { campaign_id: campaign, sample_percent: 50, metric: 'clicks' })
  ).body.data;
  await system.killWorker();
  const reply = await api.post(`/v1/ab-tests/${id}/start`);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  await system.pool.query(`UPDATE ab_tests SET ends_at = now() + $2 * interval '1 second' WHERE id = $1`, [
    id,
    seconds,
  ]);
  return { path: `/v1/ab-tests/${id}`, variants: variantIds as string[] };
}

test('after kill -9 of the worker while the variants are sent and when the winner is chosen, everyone has got one message', async () => {
  const { api, id } = await campaignTo('abkill', RECIPIENTS, { rate_per_second: 60 });
  const { path, variants } = await startTest(api, id, 12);
  await system.startWorker();
  await eventually(() => expect(taken('abkill').length).toBeGreaterThan(40), 60_000);
  await system.killWorker();
  // Until the time is up, so that the next worker chooses at once; it is killed as soon as it has.
  await eventually(
    async () =>
      expect((await system.pool.query('SELECT FROM ab_tests WHERE ends_at < now()')).rowCount).toBeGreaterThan(0),
    30_000,
  );
  await system.startWorker();
  const { winnerId, finalCampaignId } = await eventually(async () => {
    const now = await read(api, path);
    expect(now.status).toBe('completed');
    return now;
  }, 60_000);
  await system.killWorker();
  await system.startWorker();
  expect(variants).toContain(winnerId);
  const campaigns = [...variants, finalCampaignId].map((each) => `/v1/campaigns/${each}`);
  const ended = [];
  for (const campaign of campaigns) ended.push(await untilStatus(api, campaign, 'completed', 120_000));
  expect(ended.reduce((sum, { recipientCount }) => sum + recipientCount, 0)).toBe(RECIPIENTS);
  const twice = taken('abkill').filter(([, count]) => count > 1);
  expect(twice).toEqual([]);
  const { rows } = await system.pool.query<{ email: string; state: string }>(
    'SELECT email, state FROM messages WHERE campaign_id IN (SELECT id FROM campaigns WHERE ab_test_id = $1)',
    [path.split('/').at(-1)],
  );
  expect(new Set(rows.map(({ email }) => email)).size).toBe(RECIPIENTS);
  const got = new Set(taken('abkill').map(([email]) => email));
  // No one is lost: a message that was on the wire during a kill is listed as unknown.
  expect(rows.filter(({ email, state }) => !got.has(email) && state !== 'unknown')).toEqual([]);
  expect(await read(api, path)).toMatchObject({ winnerId, finalCampaignId });
}, 300_000);

test('a winner whose sender is blocked when the time is up is paused with the reason, and sent when users resume both campaigns', async () => {
  const { api, id } = await campaignTo('abpause', 40);
  const { path, variants } = await startTest(api, id, 0);
  await system.pool.query(
    `UPDATE campaigns SET status = 'paused', pause_blocks_sender = true, pause_reason = 'Too many bounces.' WHERE id = $1`,
    [variants[1]],
  );
  await system.startWorker();
  const { finalCampaignId } = await eventually(async () => {
    const now = await read(api, path);
    expect(now.finalCampaignId).not.toBeNull();
    return now;
  }, 60_000);
  const final = `/v1/campaigns/${finalCampaignId}`;
  expect((await untilStatus(api, final, 'paused')).pauseReason).toMatch(/could not start/);
  expect((await api.post(`/v1/campaigns/${variants[1]}/resume`)).status).toBe(200);
  expect((await api.post(`${final}/resume`)).status).toBe(200);
  await untilStatus(api, final, 'completed');
  await eventually(() => expect(taken('abpause').map(([, count]) => count)).toEqual(Array(40).fill(1)));
}, 180_000);
