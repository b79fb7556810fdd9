import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, type SmtpSink, startSmtpSink, startSystem, type System } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { campaignKit } from './testing.ts';

/** The worker's default connections to its mail server, each of which may have a message on the wire. */
const CONNECTIONS = 10;
/** How long the server takes per message, in milliseconds: a run alone does not send what is due in its first 15 seconds. */
const SLOW_MS = 40;
/** Less than five seconds if nothing else runs on the machine, but other tests do. */
const MAX_GAP_MS = 10_000;

let sink: SmtpSink;
let system: System;
let folder: string;
let another: Awaited<ReturnType<System['startAnother']>>;

beforeAll(async () => {
  sink = await startSmtpSink(() => sleep(SLOW_MS));
  folder = mkdtempSync(join(tmpdir(), 'postroom-local-time-'));
  system = await startSystem({ smtpUrl: sink.url, env: { IN_FLIGHT_JOURNAL: folder, CAMPAIGN_SHARDS: 'always' } });
  await system.startWorker();
  another = await system.startAnother('worker');
}, 120_000);

afterAll(async () => {
  await another.kill();
  await system.stop();
  await sink.close();
  rmSync(folder, { recursive: true });
});

const { campaignTo, read, untilStatus, expectCountersToAgree, taken } = campaignKit(() => ({ system, sink }));

/** Sends a campaign: to `now` recipients at once, to `soon` in an hour, and to 100 in many hours. */
async function scheduled(word: string, { now, soon }: { now: number; soon: number }) {
  const made = await campaignTo(word, now + soon + 100);
  const { api, path, id } = made;
  await api.post('/v1/custom-fields', { key: 'zone', label: 'Time zone', type: 'text' });
  await system.pool.query(
    `UPDATE contacts SET custom_fields = jsonb_build_object('zone',
       CASE WHEN i < $3 THEN 'Pacific/Kiritimati' WHEN i < $4 THEN 'UTC' ELSE 'Pacific/Honolulu' END)
     FROM (SELECT id, substring(email FROM length($2) + 1 FOR position('@' IN email) - length($2) - 1)::int AS i FROM contacts WHERE project_id = $1) AS n
     WHERE n.id = contacts.id`,
    [api.projectId, word, now, now + soon],
  );
  const localTime = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16);
  const reply = await api.post(`${path}/schedule`, { local_time: localTime, time_zone_field: 'zone' });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  const shards = async () => {
    const { rows } = await system.pool.query<{ token: string }>(
      'SELECT fencing_token AS token FROM campaign_shards WHERE campaign_id = $1 AND claimed_count > 0',
      [id],
    );
    return rows.map(({ token }) => token);
  };
  /** Lets the hour pass during a pause. */
  const passHour = async () => {
    expect((await api.post(`${path}/pause`)).body.data.status).toBe('paused');
    await system.pool.query(
      `WITH first AS (DELETE FROM campaign_local_times WHERE (campaign_id, at) = (SELECT campaign_id, min(at) FROM campaign_local_times WHERE campaign_id = $1 GROUP BY 1) RETURNING at)
       UPDATE messages SET not_before = now() FROM first WHERE campaign_id = $1 AND not_before = first.at`,
      [id],
    );
    expect((await api.post(`${path}/resume`)).body.data.status).toBe('sending');
  };
  return { ...made, shards, passHour };
}

test('two workers share what is due at a local time; one that is killed is replaced within seconds, and no message goes out twice or is lost', async () => {
  const [now, soon] = [20, 10_500];
  const { api, path, id, shards, passHour } = await scheduled('zone', { now, soon });
  await eventually(
    async () =>
      expect(await read(api, path)).toMatchObject({ progress: { accepted: now }, waitingUntil: expect.anything() }),
    30_000,
  );
  const gone = (await api.post('/v1/suppressions', { email: `zone${now}@mail.test` })).status;
  expect(gone).toBe(201);
  await passHour();
  await eventually(async () => expect(await shards()).toHaveLength(2), 60_000);
  const before = await shards();
  await sleep(1_000); // the shards are in the middle of their pages
  await system.killWorker();
  const killedAt = Date.now();
  await eventually(async () => {
    const { rows } = await system.pool.query('SELECT FROM campaign_shards WHERE fencing_token = ANY ($1)', [before]);
    expect(rows).toHaveLength(1);
  }, 20_000);
  expect(Date.now() - killedAt).toBeLessThan(MAX_GAP_MS);
  const sent = await eventually(async () => {
    const campaign = await read(api, path);
    expect(campaign).toMatchObject({
      status: 'sending',
      progress: { planned: 100, claimed: 0 },
      waitingUntil: expect.anything(),
    });
    return campaign.progress;
  }, 90_000);
  expect(sent.accepted + sent.unknown).toBe(now + soon - 1);
  expect(sent.suppressed).toBe(1);
  expect(sent.unknown).toBeLessThanOrEqual(2 * CONNECTIONS);
  const { rows } = await system.pool.query<{ sent: number }>(
    `SELECT count(*)::int AS sent FROM messages WHERE campaign_id = $1 AND claim = ANY ($2) GROUP BY claim`,
    [id, before],
  );
  expect(rows.length).toBe(2);
  const times = sink.mails
    .filter(({ to }) => to.startsWith('zone'))
    .map(({ at }) => at)
    .slice(now);
  const gaps = times.map((at, index) => at - (times[index - 1] ?? at));
  expect(Math.max(...gaps.slice(1))).toBeLessThan(MAX_GAP_MS);
  expect(taken('zone').every(([, count]) => count === 1)).toBe(true);
  expect(taken('zone').length).toBeGreaterThanOrEqual(sent.accepted);
  // Between two local times.
  expect((await api.post(`${path}/cancel`)).body.data.status).toBe('canceled');
  await eventually(async () =>
    expect((await read(api, path)).progress).toMatchObject({ accepted: sent.accepted, canceled: 100, planned: 0 }),
  );
  await expectCountersToAgree(api, path);
  await system.startWorker();
}, 240_000);

test('shards that are paused return what is due, and it goes once after the pause', async () => {
  const { api, path, id, shards, passHour } = await scheduled('stop', { now: 3_000, soon: 3_000 });
  await eventually(async () => expect(await shards()).toHaveLength(2), 30_000);
  await passHour();
  await eventually(() => expect(taken('stop').length).toBeGreaterThan(1_500), 30_000);
  expect((await api.post(`${path}/pause`)).body.data.status).toBe('paused');
  await eventually(async () => {
    expect((await read(api, path)).progress.claimed).toBe(0);
    expect(await shards()).toEqual([]);
  }, 20_000);
  const paused = taken('stop').length;
  expect(paused).toBeLessThan(6_000);
  await system.pool.query(`UPDATE messages SET not_before = now() WHERE campaign_id = $1 AND not_before > now()`, [id]);
  expect((await api.post(`${path}/resume`)).body.data.status).toBe('sending');
  await untilStatus(api, path, 'completed', 90_000);
  expect(taken('stop').map(([, count]) => count)).toEqual(Array(6_100).fill(1));
  await expectCountersToAgree(api, path);
}, 180_000);
