import { eventually, mailSystem, temporalClient } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { campaignKit } from './testing.ts';

const { sink, system } = await mailSystem();
const temporal = await temporalClient();

const { campaignTo, read, untilStatus, expectCountersToAgree, taken } = campaignKit(() => ({ system, sink }));

test('campaigns from one domain share its daily volume, wait when it is used up, and resume on their own the next day', async () => {
  const { api, id, path, another } = await campaignTo('warm', 50);
  const other = await another();
  await system.pool.query(
    `UPDATE domains SET warmup_steps = '{30, 1000}', warmup_since = (now() AT TIME ZONE 'UTC')::date WHERE project_id = $1`,
    [api.projectId],
  );
  const paths = [path, other.path];
  for (const each of paths) expect((await api.post(`${each}/send`)).status).toBe(202);
  for (const each of paths) {
    await eventually(async () =>
      expect(await read(api, each)).toMatchObject({
        status: 'sending',
        waitingReason: 'example.com has reached its warm-up limit of 30 messages for today.',
        waitingUntil: expect.stringMatching(/T00:00:00\.000Z$/),
      }),
    );
  }
  expect(taken('warm').reduce((sum, [, count]) => sum + count, 0)).toBe(30);
  const volumes = 'domain_volumes WHERE domain_id = (SELECT id FROM domains WHERE project_id = $1)';
  const counted = await system.pool.query(`SELECT messages FROM ${volumes}`, [api.projectId]);
  expect(counted.rows).toEqual([{ messages: 30 }]);
  const waiting = await temporal.workflow.getHandle(id).describe();
  expect(waiting.status.name).toBe('RUNNING');

  // Move the recorded day into the past. The workflows would recheck on their own; a rate change wakes them now.
  await system.pool.query(`UPDATE ${volumes.replace(' WHERE', ' SET day = day - 1 WHERE')}`, [api.projectId]);
  await system.pool.query('UPDATE domains SET warmup_since = warmup_since - 1 WHERE project_id = $1', [api.projectId]);
  for (const each of paths) await api.patch(each, { rate_per_second: 5_000 });
  for (const each of paths) {
    const campaign = await untilStatus(api, each, 'completed');
    expect(campaign).toMatchObject({ progress: { accepted: 50 }, waitingUntil: null, waitingReason: null });
    await expectCountersToAgree(api, each);
  }
  expect(taken('warm').map(([, count]) => count)).toEqual(Array(50).fill(2)); // once by each campaign
}, 90_000);

test('a campaign whose domain is blocked while it waits is paused with the reason, and goes on once it is unblocked', async () => {
  const { api, path } = await campaignTo('blocked', 20);
  const change = (set: string) => system.pool.query(`UPDATE domains SET ${set} WHERE project_id = $1`, [api.projectId]);
  await change(`warmup_steps = '{5, 1000}', warmup_since = (now() AT TIME ZONE 'UTC')::date`);
  expect((await api.post(`${path}/send`)).status).toBe(202);
  await eventually(async () => expect((await read(api, path)).waitingReason).toContain('warm-up limit'));
  await change('blocked_at = now(), warmup_since = NULL');
  await api.patch(path, { rate_per_second: 5_000 }); // wakes the workflow
  expect(await untilStatus(api, path, 'paused')).toMatchObject({
    pauseReason: 'The domain example.com has been blocked.',
    progress: { accepted: 5, planned: 15 },
  });
  expect((await api.post(`${path}/resume`)).status).toBe(403);
  await change('blocked_at = NULL');
  expect((await api.post(`${path}/resume`)).status).toBe(200);
  expect(await untilStatus(api, path, 'completed')).toMatchObject({ progress: { accepted: 20 } });
  expect(taken('blocked').map(([, count]) => count)).toEqual(Array(20).fill(1));
}, 90_000);
