import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@postroom/platform';
import {
  addCampaign,
  eventually,
  type Receiver,
  type SmtpSink,
  startReceiver,
  startSmtpSink,
  startSystem,
  type System,
  type SystemApi,
} from '@postroom/testkit';
import { execute } from '@postroom/testkit/database';
import { trackingToken } from '@postroom/tracking';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { runChecks } from '../../../scripts/doctor/checks.ts';
import { runAfterRestore } from './after-restore.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from './replicated-postgres.ts';

const RECIPIENTS = 900;
const timeout = 120_000;
/** Between attempts of a request, as of a client that waits for the failover. */
const RETRY_MS = 200;

/** Two of those that Temporal makes. */
const TEMPORAL_TABLES = 'CREATE TABLE current_executions (); CREATE TABLE history_node ()';

let postgres: ReplicatedPostgres;
let sink: SmtpSink;
let receiver: Receiver;
let system: System;
const taskQueue = `failover-${newId('req')}`;
const folder = mkdtempSync(join(tmpdir(), 'postroom-uncertain-'));

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  sink = await startSmtpSink(() => sleep(100));
  receiver = await startReceiver();
  system = await startSystem({
    smtpUrl: sink.url,
    databaseUrl: postgres.url,
    env: { TEMPORAL_TASK_QUEUE: taskQueue, IN_FLIGHT_JOURNAL: join(folder, 'in-flight') },
  });
}, 120_000);

afterAll(async () => {
  await system.stop();
  await postgres.stop();
  await Promise.all([sink.close(), receiver.close()]);
  rmSync(folder, { recursive: true });
}, 60_000);
let posting: NodeJS.Timeout | undefined;
afterEach(() => {
  clearInterval(posting);
  return system.killWorker();
});

const one = async (text: string, values: unknown[] = []) => (await system.pool.query(text, values)).rows[0];
const afterRestore = (...args: string[]) =>
  runAfterRestore({ DATABASE_URL: postgres.url, TEMPORAL_TASK_QUEUE: taskQueue }, args);
const held = async (of?: 'before') => (await postgres.ask('SELECT held_reason FROM installation', of))?.['held_reason'];

/** What the doctor says of the journals. */
const journals = async (more: Record<string, string> = {}) =>
  (await runChecks({ ...process.env, DATABASE_URL: postgres.url, ...more }, undefined, ['worker'])).find(
    ({ check }) => check === 'Journals',
  );

const receivedBy = (name: string) => sink.mails.filter(({ to }) => to.startsWith(name)).length;
const untilReceived = (name: string, count: number) =>
  eventually(() => expect(receivedBy(name)).toBeGreaterThan(count), 30_000);

/** An email that is posted with an idempotency key until it is accepted. */
interface Posted {
  to: string;
  key: string;
  acceptedAt: number;
  reply: { body: unknown; isReplayed: boolean };
}

async function post(api: SystemApi, to: string, key: string = newId('req')): Promise<Posted> {
  for (;;) {
    const response = await fetch(`${system.url}/v1/emails`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify({ from: 'post@example.com', to, subject: 'Receipt', text: 'Thank you.' }),
    });
    const body = await response.json();
    if (response.status === 202) {
      const isReplayed = response.headers.get('Idempotent-Replayed') === 'true';
      return { to, key, acceptedAt: Date.now(), reply: { body, isReplayed } };
    }
    expect([409, 503]).toContain(response.status);
    await sleep(RETRY_MS);
  }
}

/** Posts an email every 100 ms until it is stopped. */
function keepPosting(api: SystemApi, name: string): () => Promise<Posted[]> {
  const posted: Promise<Posted>[] = [];
  posting = setInterval(() => posted.push(post(api, `receipt-${name}-${posted.length}@mail.test`)), 100);
  return () => {
    clearInterval(posting);
    return Promise.all(posted);
  };
}

async function startCampaign(
  name: string,
  settings: Record<string, string> = {},
): Promise<{ api: SystemApi; campaign: string }> {
  await postgres.addStandby();
  await system.startWorker(settings);
  const api = await system.api();
  expect((await api.post('/v1/webhooks', { url: receiver.url, events: ['*'] })).status).toBe(201);
  const campaign = await addCampaign(system.pool, api, { name, recipients: RECIPIENTS });
  expect((await api.post(`/v1/campaigns/${campaign}/send`)).status).toBe(202);
  await untilReceived(name, RECIPIENTS * 0.15);
  return { api, campaign };
}

/** Everything that the new primary knows is sent once, or listed as unknown; the events that it knows have arrived, or will. */
async function expectNothingTwice(
  { api, campaign }: { api: SystemApi; campaign: string },
  listFile: string,
): Promise<{ known: Set<string>; unknown: string[] }> {
  await eventually(async () => {
    expect(await one('SELECT status FROM campaigns WHERE id = $1', [campaign])).toEqual({ status: 'completed' });
    const open = `SELECT count(*)::int AS open FROM messages WHERE project_id = $1 AND state IN ('planned', 'claimed')`;
    expect(await one(open, [api.projectId])).toEqual({ open: 0 });
  }, 60_000);
  const { rows } = await system.pool.query<{ email: string; state: string }>(
    'SELECT email, state FROM messages WHERE project_id = $1',
    [api.projectId],
  );
  const counts = sink.counts();
  expect([...counts].filter(([, times]) => times > 1)).toEqual([]);
  const listed = readFileSync(listFile, 'utf8');
  const wrong = rows.filter(({ email, state }) =>
    state === 'accepted' ? counts.get(email) !== 1 : !(state === 'unknown' && listed.includes(`,${email}\r\n`)),
  );
  expect(wrong).toEqual([]);
  // A delivery whose workflow the standby does not know to have ended is attempted again, up to a minute later.
  await eventually(async () => {
    const closed = await system.pool.query<{ id: string }>(
      `SELECT e.id FROM events e WHERE e.project_id = $1
       AND NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = e.id AND d.closed_at IS NULL)`,
      [api.projectId],
    );
    const arrived = new Set(receiver.received.map(({ event }) => event.id));
    expect(closed.rows.filter(({ id }) => !arrived.has(id))).toEqual([]);
  }, 10_000);
  const unknown = rows.filter(({ state }) => state === 'unknown').map(({ email }) => email);
  console.log(`${unknown.length} unknown, of which ${unknown.filter((to) => counts.has(to)).length} had been sent`);
  return { known: new Set(rows.map(({ email }) => email)), unknown };
}

test(
  'the primary and the worker killed, and a standby promoted that lags behind: sending is held, then nothing is sent twice, and what was lost is named',
  { timeout },
  async () => {
    const sending = await startCampaign('killed');
    const { api } = sending;
    expect(await journals()).toMatchObject({ status: 'ok' });
    await one('CREATE DATABASE workflows'); // on the server that fails over
    expect(await journals()).toMatchObject({ status: 'ok' });
    await execute(postgres.url.replace(/\/[^/]*$/, '/workflows'), TEMPORAL_TABLES);
    expect(await journals()).toMatchObject({ status: 'warning', fix: expect.stringContaining('SENDING_JOURNAL') });
    expect(await journals({ SENDING_JOURNAL: folder })).toMatchObject({ status: 'ok' });
    const early = await post(api, 'receipt-early@mail.test');
    await untilReceived('receipt-early', 0);
    await postgres.catchUp();
    const stop = keepPosting(api, 'killed');
    postgres.cutStandby();
    const before = receivedBy('killed');
    await untilReceived('killed', before + 100);
    await postgres.kill();
    await Promise.all([system.killWorker(), postgres.promote()]);
    postgres.closeOld();
    const addressesBefore = new Set(sink.counts().keys());

    await system.startWorker();
    await eventually(async () => expect(await held()).toMatch(/promoted|older/), 20_000);
    await sentWhenQuiet();
    const file = join(folder, 'killed.csv');
    const output = await afterRestore('--list', file, '--release');
    expect(output).toContain('Sending is released.');
    const posted = await stop();
    // A repetition of a request that the standby knows gets the first response.
    const repeated = await post(api, early.to, early.key);
    expect(repeated.reply).toEqual({ body: early.reply.body, isReplayed: true });

    const { known, unknown } = await expectNothingTwice(sending, file);
    expect(unknown.filter((to) => addressesBefore.has(to)).length).toBeGreaterThan(100);
    // What the standby lacked is gone: only who sent it knows. `after-restore` says from when on.
    const [, recoveredUntil = ''] = /is from (\S+Z)\./.exec(output) ?? [];
    const lost = posted.filter(({ to }) => !known.has(to));
    expect(lost.filter(({ acceptedAt }) => acceptedAt < Date.parse(recoveredUntil))).toEqual([]);
    console.log(`${lost.length} of ${posted.length} accepted emails are gone`);
  },
);

test(
  'a standby promoted while the primary goes on, and the worker is connected to that: it sends nothing more once after-restore has run',
  { timeout },
  async () => {
    const sending = await startCampaign('split', { DATABASE_URL: postgres.primaryUrl() });
    await postgres.catchUp();
    sink.answer(() => sleep(300)); // so that some of the campaign is left
    postgres.cutStandby();
    await postgres.promote();
    const before = receivedBy('split');
    await untilReceived('split', before + 50); // through the primary before

    const file = join(folder, 'split.csv');
    expect(await afterRestore('--list', file)).toContain('Sending is held');
    await eventually(async () => expect(await held('before')).toMatch(/^Another database has taken over/), 20_000);
    await eventually(() => expect(fetch(`${system.adminUrls.worker}/livez`)).rejects.toThrow('fetch failed'), 40_000);
    const atHold = await sentWhenQuiet();
    sink.answer(() => undefined);
    expect(await afterRestore('--release')).toContain('Sending is released.');
    await system.killWorker();
    await postgres.kill('before');
    postgres.closeOld();
    await system.startWorker();

    const { unknown } = await expectNothingTwice(sending, file);
    const counts = sink.counts();
    expect(unknown.filter((to) => counts.has(to)).length).toBeGreaterThan(50);
    expect(sink.mails.length).toBeGreaterThan(atHold);
  },
);

test(
  'the primary started again after a failover: a worker that is still configured to it does not start, and takes no work from the others',
  { timeout },
  async () => {
    const sending = await startCampaign('returned');
    await postgres.catchUp();
    await postgres.kill();
    await Promise.all([system.killWorker(), postgres.promote()]);
    postgres.closeOld();
    const file = join(folder, 'returned.csv');
    expect(await afterRestore('--list', file, '--release')).toContain('Sending is released.');
    await system.startWorker();

    const DATABASE_URL = await postgres.restartBefore();
    const stop = keepPosting(sending.api, 'returned');
    await expect(system.startAnother('worker', { DATABASE_URL })).rejects.toThrow('worker ended with 1');
    expect(await held('before')).toMatch(/^Another database has taken over/);
    const doctor = await runChecks({ ...process.env, DATABASE_URL }, undefined, ['worker']);
    const said = doctor.find(({ check }) => check === 'Sending');
    expect(said).toMatchObject({
      status: 'failed',
      fix: expect.stringContaining('do not run `postroom after-restore` here'),
    });
    const posted = await stop();
    const { known } = await expectNothingTwice(sending, file);
    expect(posted.filter(({ to }) => !known.has(to))).toEqual([]);
    await postgres.kill('before');
  },
);

test(
  'a gateway on the primary before a failover accepts nothing more once a worker there knows of it, until after-restore has run there',
  { timeout },
  async () => {
    await postgres.addStandby();
    const api = await system.api();
    const old = { DATABASE_URL: postgres.primaryUrl() };
    await system.startWorker(old);
    const gateway = await system.startAnother('gateway', old);
    const request = async (path: string, body?: unknown) => {
      const headers = { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json' };
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(gateway.url + path, { headers, redirect: 'manual', ...init });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    const email = (to: string) => ({ from: 'post@example.com', to, subject: 'Receipt', text: 'Thank you.' });
    const add = (name: string) => request('/v1/contacts', { email: `${name}@mail.test` });
    const { id: message } = JSON.parse((await request('/v1/emails', email('clicks@mail.test'))).text).data;
    await one(`INSERT INTO tracked_links (owner_id, position, url) VALUES ($1, 0, 'https://shop.example/')`, [message]);
    const click = `/t/c/${trackingToken(message)}.0`;
    expect((await request('/readyz')).status).toBe(200);
    await postgres.catchUp();
    postgres.cutStandby();
    await postgres.promote();
    expect((await add('between')).status).toBe(201);

    const file = join(folder, 'gateway.csv');
    expect(await afterRestore('--list', file, '--release')).toContain('Sending is released.');
    await eventually(async () => expect((await request('/readyz')).status).toBe(503), 20_000);
    await eventually(() => expect(fetch(`${system.adminUrls.worker}/livez`)).rejects.toThrow('fetch failed'), 40_000);
    expect(JSON.parse((await request('/readyz')).text).status).toMatch(/^Another database has taken over/);
    for (const refused of [await add('after'), await request('/v1/emails', email('after@mail.test'))]) {
      expect(refused.status).toBe(503);
      expect(refused.headers.get('Retry-After')).toBe('5');
      expect(JSON.parse(refused.text).error).toMatchObject({
        code: 'timeout',
        message: expect.stringContaining('is not the primary'),
      });
    }
    const mutation = await request('/graphql', {
      query: 'mutation { createContact(input: { email: "after@mail.test" }) { contact { id } } }',
    });
    expect(JSON.parse(mutation.text).errors[0].extensions.code).toBe('timeout');
    expect((await request('/v1/contacts')).status).toBe(200);
    const doctor = await runChecks({ ...process.env, ...old }, undefined, ['gateway']);
    expect(doctor.find(({ check }) => check === 'Database')).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('but not written: Another database has taken over'),
    });
    const followed = await request(click);
    expect([followed.status, followed.headers.get('Location')]).toEqual([302, 'https://shop.example/']);

    // The operator decides that this one is to be the primary after all.
    const settings = { ...old, TEMPORAL_TASK_QUEUE: taskQueue };
    expect(await runAfterRestore(settings, ['--list', file, '--release'])).toContain('Sending is released.');
    expect((await add('after')).status).toBe(201);
    expect((await request('/readyz')).status).toBe(200);
    const left = `SELECT count(*)::int AS triggers FROM pg_trigger WHERE tgname = 'a_superseded'`;
    expect(await postgres.ask(left, 'before')).toEqual({ triggers: 0 });
    await gateway.kill();
    await postgres.kill('before');
    postgres.closeOld();
  },
);

/** The number of mails received, once those in flight have arrived. */
async function sentWhenQuiet(): Promise<number> {
  for (let before = -1; before !== sink.mails.length; await sleep(1_000)) before = sink.mails.length;
  return sink.mails.length;
}
