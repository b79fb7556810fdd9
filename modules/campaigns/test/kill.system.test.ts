import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addCampaign, eventually, type SmtpSink, startSmtpSink, startSystem, type System } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { campaignKit } from './testing.ts';

const RECIPIENTS = 2_000;
/** The worker's default connections to its mail server, each of which may have a message on the wire. */
const CONNECTIONS = 10;
/** How long the server takes per message, in milliseconds, so that messages are in flight when the worker is killed. */
const SLOW_MS = 20;
/** Less than five seconds if nothing else runs on the machine, but other tests do. With the heartbeats of other activities it would be twelve. */
const MAX_GAP_MS = 10_000;

let sink: SmtpSink;
let system: System;
let folder: string;

beforeAll(async () => {
  sink = await startSmtpSink(() => sleep(SLOW_MS));
  folder = mkdtempSync(join(tmpdir(), 'postroom-kill-'));
  system = await startSystem({ smtpUrl: sink.url, env: { IN_FLIGHT_JOURNAL: folder, CAMPAIGN_SHARDS: 'always' } });
  await system.startWorker();
}, 120_000);

afterAll(async () => {
  await system.stop();
  await sink.close();
  rmSync(folder, { recursive: true });
});

const { campaignTo, read, untilStatus, eventsOf, expectCountersToAgree, taken } = campaignKit(() => ({ system, sink }));

test('after kill -9 of the worker no recipient gets a message twice or is lost, only messages on the wire are unknown, and the campaign completes on its own', async () => {
  const api = await system.api();
  const id = await addCampaign(system.pool, api, { name: 'kill', recipients: RECIPIENTS });
  const path = `/v1/campaigns/${id}`;
  expect((await api.post(`${path}/send`)).status).toBe(202);

  let inFlight = 0;
  const killedAt = [0.2, 0.6];
  for (const share of killedAt) {
    await eventually(() => expect(sink.mails.length).toBeGreaterThan(RECIPIENTS * share), 60_000);
    await system.killWorker();
    // Rows claimed now were in flight in the killed worker.
    const { rows } = await system.pool.query<{ claimed: number }>(
      `SELECT count(*)::int AS claimed FROM messages WHERE campaign_id = $1 AND state = 'claimed'`,
      [id],
    );
    inFlight += rows[0]?.claimed ?? 0;
    await system.startWorker();
  }

  const campaign = await eventually(async () => {
    const now = (await api.get(path)).body.data;
    expect(now.status).toBe('completed');
    return now;
  }, 120_000);
  const counts = sink.counts();
  const doubled = [...counts.values()].filter((count) => count > 1);
  expect(doubled).toEqual([]);
  const { accepted, unknown } = campaign.progress;
  expect(accepted + unknown).toBe(RECIPIENTS);
  // On each connection one message awaits its reply, and the next one may follow it.
  expect(unknown).toBeLessThanOrEqual(killedAt.length * 2 * CONNECTIONS);
  expect(inFlight).toBeGreaterThan(unknown);
  expect(inFlight).toBeLessThan(RECIPIENTS / 4);
  // Recipients who got nothing are listed as unknown, so none is lost silently.
  const { rows } = await system.pool.query<{ email: string; state: string }>(
    'SELECT email, state FROM messages WHERE campaign_id = $1',
    [id],
  );
  expect(rows.filter(({ email, state }) => !counts.has(email) && state !== 'unknown')).toEqual([]);
  const completed = await system.pool.query(
    `SELECT id FROM events WHERE type = 'campaign.completed' AND project_id = $1`,
    [api.projectId],
  );
  expect(completed.rowCount).toBe(1);
  const sent = await system.pool.query(`SELECT id FROM events WHERE type = 'email.sent' AND project_id = $1`, [
    api.projectId,
  ]);
  expect(sent.rowCount).toBe(accepted);
  expect(readdirSync(folder).filter((name) => name.endsWith('.journal'))).toEqual([]);
}, 240_000);

/** Kills the worker, then waits until the server has accepted what was in flight; the server does not notice the kill. */
async function killWorker(): Promise<void> {
  await system.killWorker();
  await sleep(10 * SLOW_MS);
}

test('pause, resume and cancel issued while no worker runs take effect when one starts', async () => {
  const { api, path } = await campaignTo('commands', 400, { rate_per_second: 60 });
  await api.post(`${path}/send`);
  await eventually(async () => expect((await read(api, path)).progress.accepted).toBeGreaterThan(20));
  await killWorker();
  expect((await api.post(`${path}/pause`)).body.data.status).toBe('paused');
  const atPause = taken('commands').length;
  await system.startWorker();
  // The killed worker's in-flight messages are marked unknown while the campaign is still paused.
  const paused = await eventually(async () => {
    const now = await read(api, path);
    expect(now.progress.claimed).toBe(0);
    return now;
  }, 40_000);
  expect(paused.status).toBe('paused');
  expect(taken('commands').length).toBe(atPause);
  await system.killWorker();
  expect((await api.post(`${path}/resume`)).body.data.status).toBe('sending');
  await system.startWorker();
  await eventually(() => expect(taken('commands').length).toBeGreaterThan(atPause), 40_000);
  await killWorker();
  expect((await api.post(`${path}/cancel`)).body.data.status).toBe('canceled');
  const atCancel = taken('commands').length;
  await system.startWorker();
  const canceled = await eventually(async () => {
    const now = await read(api, path);
    expect(now.progress.planned + now.progress.claimed).toBe(0);
    return now;
  }, 40_000);
  expect(taken('commands').length).toBe(atCancel);
  expect(taken('commands').every(([, count]) => count === 1)).toBe(true);
  const { accepted, unknown, canceled: left } = canceled.progress;
  expect(accepted + unknown + left).toBe(400);
  await expectCountersToAgree(api, path);
}, 180_000);

test('a campaign due while no worker runs starts once when a worker starts', async () => {
  const { api, path } = await campaignTo('asleep', 20);
  const at = Date.now() + 8_000;
  await api.post(`${path}/schedule`, { scheduled_at: new Date(at).toISOString() });
  await system.killWorker();
  await sleep(at + 500 - Date.now());
  expect((await read(api, path)).status).toBe('scheduled');
  await system.startWorker();
  await untilStatus(api, path, 'completed');
  expect(taken('asleep').map(([, count]) => count)).toEqual(Array(20).fill(1));
  expect(await eventsOf(api, 'campaign.started')).toHaveLength(1);
  expect(await eventsOf(api, 'campaign.completed')).toHaveLength(1);
}, 90_000);

test('mail of the first range of recipients goes out while the next one is written, and a kill during that repeats and loses nobody', async () => {
  const { api, id, path } = await campaignTo('ranges', 30);
  const { pool } = system;
  // Ten thousand contacts between the first members of the group and the last one, which is thus in the second range.
  await pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
     SELECT postroom_id('ctc'), $1, 'between' || i || '@mail.test', 'between' || i || '@mail.test', 'Other', 'api', now()
     FROM generate_series(1, 10000) i`,
    [api.projectId],
  );
  const last = (await api.post('/v1/contacts', { email: 'ranges-last@mail.test' })).body.data;
  await pool.query(
    'INSERT INTO group_members (group_id, contact_id) SELECT group_ids[1], $2 FROM campaigns WHERE id = $1',
    [id, last.id],
  );
  const other = await pool.connect();
  try {
    // The second range waits for this transaction, because a contact is in a campaign once.
    await other.query('BEGIN');
    await other.query(
      `INSERT INTO messages (id, project_id, campaign_id, contact_id, email) VALUES (postroom_id('eml'), $1, $2, $3, 'x@mail.test')`,
      [api.projectId, id, last.id],
    );
    expect((await api.post(`${path}/send`)).status).toBe(202);
    await eventually(
      async () => expect(await read(api, path)).toMatchObject({ status: 'sending', progress: { accepted: 30 } }),
      30_000,
    );
    expect(await read(api, path)).toMatchObject({ status: 'sending', countingRecipients: true });
    expect(await eventsOf(api, 'campaign.started')).toEqual([]);
    await killWorker();
  } finally {
    await other.query('ROLLBACK');
    other.release();
  }
  await system.startWorker();
  await untilStatus(api, path, 'completed', 90_000);
  expect(taken('ranges')).toHaveLength(31);
  expect(taken('ranges').every(([, count]) => count === 1)).toBe(true);
  expect(await eventsOf(api, 'campaign.started')).toMatchObject([{ recipients: 31 }]);
  expect(await read(api, path)).toMatchObject({ recipientCount: 31, countingRecipients: false });
  await expectCountersToAgree(api, path);
}, 180_000);

test('after kill -9 of the worker that sends a campaign, another one goes on within seconds', async () => {
  const { api, path } = await campaignTo('gap', 2_500, { rate_per_second: 120 });
  expect((await api.post(`${path}/send`)).status).toBe(202);
  await eventually(() => expect(taken('gap').length).toBeGreaterThan(100), 60_000);
  const another = await system.startAnother('worker');
  expect(taken('gap').length).toBeLessThan(2_500);
  const killedAt = Date.now();
  await killWorker();
  const before = taken('gap').length;
  await eventually(() => expect(taken('gap').length).toBeGreaterThan(before), 20_000);
  expect(Date.now() - killedAt).toBeLessThan(MAX_GAP_MS);
  await untilStatus(api, path, 'completed', 90_000);
  expect(taken('gap').every(([, count]) => count === 1)).toBe(true);
  const { accepted, unknown } = (await read(api, path)).progress;
  expect(accepted + unknown).toBe(2_500);
  expect(unknown).toBeLessThanOrEqual(2 * CONNECTIONS);
  await another.kill();
  await system.startWorker();
}, 180_000);

test('after kill -9 of one of two workers that share a campaign, the other one goes on and takes over within seconds, and no message goes out twice or is lost', async () => {
  const count = 9_000;
  const { api, id, path } = await campaignTo('shared', count);
  const another = await system.startAnother('worker');
  const shards = async () => {
    const { rows } = await system.pool.query<{ token: string }>(
      `SELECT fencing_token AS token FROM campaign_shards WHERE campaign_id = $1 AND until <> ''`,
      [id],
    );
    return rows;
  };
  expect((await api.post(`${path}/send`)).status).toBe(202);
  await eventually(async () => expect(await shards()).toHaveLength(2), 30_000);
  await eventually(() => expect(taken('shared').length).toBeGreaterThan(1_000), 30_000);
  await system.killWorker();
  const killedAt = Date.now();
  const before = await shards();
  await eventually(async () => {
    const left = (await shards()).map(({ token }) => token);
    expect(before.filter(({ token }) => !left.includes(token))).not.toEqual([]);
  }, 20_000);
  expect(Date.now() - killedAt).toBeLessThan(MAX_GAP_MS);
  await untilStatus(api, path, 'completed', 90_000);
  const times = sink.mails.filter(({ to }) => to.startsWith('shared')).map(({ at }) => at);
  const gaps = times.map((at, index) => at - (times[index - 1] ?? at));
  expect(Math.max(...gaps)).toBeLessThan(MAX_GAP_MS);
  expect(taken('shared').every(([, times]) => times === 1)).toBe(true);
  const { accepted, unknown, claimed } = (await read(api, path)).progress;
  expect({ total: accepted + unknown, claimed }).toEqual({ total: count, claimed: 0 });
  expect(unknown).toBeLessThanOrEqual(2 * CONNECTIONS);
  expect(taken('shared').length).toBeGreaterThanOrEqual(accepted);
  await expectCountersToAgree(api, path);
  expect(await shards()).toEqual([]);
  expect(await eventsOf(api, 'campaign.completed')).toMatchObject([{ sent: accepted }]);
  await another.kill();
  await system.startWorker();
}, 180_000);
