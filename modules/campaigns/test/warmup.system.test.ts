import { config } from '@postroom/platform';
import { eventually, type SmtpSink, startSmtpSink, startSystem, type System } from '@postroom/testkit';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { campaignKit } from './support.ts';

let sink: SmtpSink;
let system: System;
let temporal: Client;

beforeAll(async () => {
  sink = await startSmtpSink();
  system = await startSystem({ smtpUrl: sink.url });
  await system.startWorker();
  temporal = new Client({ connection: await Connection.connect({ address: config.TEMPORAL_ADDRESS }) });
}, 120_000);

afterAll(async () => {
  await system.stop();
  await sink.close();
  await temporal.connection.close();
});

const { campaignTo, read, untilStatus, expectCountersToAgree } = campaignKit(() => ({ system, sink }));

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
  const sent = () => sink.mails.length;
  expect(sent()).toBe(30);
  const counted = await system.pool.query('SELECT messages FROM domain_volumes');
  expect(counted.rows).toEqual([{ messages: 30 }]);
  const waiting = await temporal.workflow.getHandle(id).describe();
  expect(waiting.status.name).toBe('RUNNING');

  // Move the recorded day into the past. The workflows would recheck on their own; a rate change wakes them now.
  await system.pool.query('UPDATE domain_volumes SET day = day - 1');
  await system.pool.query('UPDATE domains SET warmup_since = warmup_since - 1 WHERE project_id = $1', [api.projectId]);
  for (const each of paths) await api.patch(each, { rate_per_second: 5_000 });
  for (const each of paths) {
    const campaign = await untilStatus(api, each, 'completed');
    expect(campaign).toMatchObject({ progress: { accepted: 50 }, waitingUntil: null, waitingReason: null });
    await expectCountersToAgree(api, each);
  }
  expect([...sink.counts().values()]).toEqual(Array(50).fill(2)); // once by each campaign
}, 90_000);
