import { eventually, mailSystem } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { campaignKit } from './testing.ts';

const { sink, system } = await mailSystem();

const { campaignTo, read, untilStatus, eventsOf, expectCountersToAgree, taken } = campaignKit(() => ({ system, sink }));

/** Due this many seconds after the campaign was scheduled: long enough to look at what waits. */
const LATER_SECONDS = 12;

/**
 * Schedules a campaign to `count` contacts for a local time: the first third of them live where it has passed, the next where it comes in some
 * seconds, and the others where it comes in hours.
 */
async function scheduled(word: string, count: number) {
  const made = await campaignTo(word, count);
  const { api, path } = made;
  await api.post('/v1/custom-fields', { key: 'zone', label: 'Time zone', type: 'text' });
  // The time of day has minutes, not seconds. So the middle third gets it when the field's zone says so, and then sooner.
  const localTime = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16);
  await system.pool.query(
    `UPDATE contacts SET custom_fields = jsonb_build_object('zone', (ARRAY['Pacific/Kiritimati', 'UTC', 'Pacific/Honolulu'])[1 + substring(email FROM '[0-9]+')::int % 3])
     WHERE project_id = $1`,
    [api.projectId],
  );
  const reply = await api.post(`${path}/schedule`, { local_time: localTime, time_zone_field: 'zone' });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return made;
}

const third = (word: string, index: number) =>
  taken(word).filter(([to]) => Number(/\d+/.exec(to.slice(word.length))?.[0]) % 3 === index);

/** Lets the time of what is due in an hour come in some seconds, and tells the workflow. */
async function shorten(api: Awaited<ReturnType<typeof scheduled>>['api'], id: string, path: string): Promise<void> {
  const soon = `now() + interval '${LATER_SECONDS} seconds'`;
  await system.pool.query(
    `WITH first AS (SELECT min(at) AS at FROM campaign_local_times WHERE campaign_id = $1),
       messages AS (UPDATE messages SET not_before = ${soon} FROM first WHERE campaign_id = $1 AND not_before = first.at)
     UPDATE campaign_local_times SET at = ${soon} FROM first WHERE campaign_id = $1 AND campaign_local_times.at = first.at`,
    [id],
  );
  await api.patch(path, { rate_per_second: 1_000 });
}

const dueInMetrics = async () =>
  /^postroom_due\{kind="campaigns"\} (\d+)$/m.exec(
    await (await fetch(`${system.adminUrls.gateway}/metrics`)).text(),
  )?.[1];

test('each recipient gets the message at their local time, and the campaign says what waits and is not due meanwhile', async () => {
  const { api, id, path } = await scheduled('local', 30);
  const waiting = await eventually(async () => {
    const now = await read(api, path);
    expect(now).toMatchObject({ progress: { accepted: 10, planned: 20 }, waitingUntil: expect.anything() });
    return now;
  });
  expect(third('local', 0)).toHaveLength(10);
  expect(taken('local')).toHaveLength(10);
  expect(waiting).toMatchObject({
    status: 'sending',
    waitingReason: 'Messages wait for the local time of their recipients.',
    deferred: null,
    awaitingLocalTime: { messages: 20, nextAt: `${waiting.localTime}:00.000Z` },
    waitingUntil: expect.stringMatching(`^${waiting.localTime.slice(0, 14)}`),
  });
  await eventually(async () => expect(await dueInMetrics()).toBe('0'), 20_000);

  await shorten(api, id, path);
  await eventually(() => expect(taken('local')).toHaveLength(20), 40_000);
  expect(third('local', 1)).toHaveLength(10);
  await eventually(async () =>
    expect(await read(api, path)).toMatchObject({ progress: { accepted: 20 }, awaitingLocalTime: { messages: 10 } }),
  );
  await api.post(`${path}/pause`);
  await system.pool.query('UPDATE messages SET not_before = now() WHERE campaign_id = $1 AND not_before IS NOT NULL', [
    id,
  ]);
  expect(await read(api, path)).toMatchObject({ status: 'paused', waitingUntil: null });
  expect(taken('local')).toHaveLength(20);
  await api.post(`${path}/resume`);
  await untilStatus(api, path, 'completed');
  await expectCountersToAgree(api, path);
  expect(taken('local').map(([, count]) => count)).toEqual(Array(30).fill(1));
  expect(await eventsOf(api, 'campaign.completed')).toHaveLength(1);
}, 120_000);

test('a worker that is killed while messages wait costs nothing, and one that starts later sends what is overdue', async () => {
  const { api, id, path } = await scheduled('lost', 9);
  await eventually(async () => expect((await read(api, path)).progress.accepted).toBe(3));
  await system.killWorker();
  await shorten(api, id, path);
  await eventually(async () => {
    const { rows } = await system.pool.query(
      'SELECT count(*)::int AS due FROM messages WHERE campaign_id = $1 AND not_before <= now()',
      [id],
    );
    expect(rows).toEqual([{ due: 3 }]);
  }, 30_000);
  expect(taken('lost')).toHaveLength(3);
  await system.startWorker();
  await eventually(() => expect(taken('lost')).toHaveLength(6), 40_000);
  expect(third('lost', 1)).toHaveLength(3);
  expect((await api.post(`${path}/cancel`)).body.data.status).toBe('canceled');
  await eventually(async () =>
    expect((await read(api, path)).progress).toMatchObject({ accepted: 6, canceled: 3, planned: 0 }),
  );
  await expectCountersToAgree(api, path);
}, 120_000);
