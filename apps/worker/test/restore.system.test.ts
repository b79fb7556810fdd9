import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { config, newId } from '@postroom/platform';
import { migrate } from '@postroom/migrations';
import { Connection } from '@temporalio/client';
import {
  addCampaign,
  eventually,
  type SmtpSink,
  startSmtpSink,
  startSystem,
  type System,
  type SystemApi,
} from '@postroom/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { runChecks } from '../../../scripts/doctor/checks.ts';
import { runAfterRestore } from './after-restore.ts';
import { type RestorablePostgres, startRestorablePostgres } from './restorable-postgres.ts';

const RECIPIENTS = 2_000;
const EMAILS = 400;
const timeout = 240_000;

let postgres: RestorablePostgres;
let sink: SmtpSink;
let system: System;
const taskQueue = `restore-${newId('req')}`;
const folder = mkdtempSync(join(tmpdir(), 'postroom-uncertain-'));

beforeAll(async () => {
  postgres = await startRestorablePostgres();
  await migrate(postgres.url);
  sink = await startSmtpSink(() => sleep(100));
  system = await startSystem({
    smtpUrl: sink.url,
    databaseUrl: postgres.url,
    env: { TEMPORAL_TASK_QUEUE: taskQueue },
  });
}, 180_000);

afterAll(async () => {
  await system.stop();
  await postgres.stop();
  await sink.close();
  rmSync(folder, { recursive: true });
});
afterEach(() => system.killWorker());

const one = async (text: string, values: unknown[] = []) => (await system.pool.query(text, values)).rows[0];

/** Runs `postroom after-restore` and returns what it prints. */
const afterRestore = (...args: string[]) => afterRestoreWith({}, ...args);

/** The same with more settings. */
const afterRestoreWith = (more: Record<string, string>, ...args: string[]) =>
  runAfterRestore({ ...databaseSettings(), TEMPORAL_TASK_QUEUE: taskQueue, ...more }, args);

const databaseSettings = () => ({ DATABASE_URL: postgres.url });

/** Whether the worker says that sending is held, and whether it is ready all the same. */
async function reportedHeld(): Promise<string | undefined> {
  const { worker, gateway } = system.adminUrls;
  for (const url of [worker, gateway]) expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const page = await (await fetch(`${worker}/metrics`)).text();
  return /^postroom_sending_held\{kind="mail"\} (\d)$/m.exec(page)?.[1];
}

const findingOf = async (more: Record<string, string>) =>
  (await runChecks({ ...process.env, ...databaseSettings(), ...more }, undefined, ['worker'])).find(
    ({ check }) => check === 'Sending',
  );

interface Sending {
  api: SystemApi;
  name: string;
  campaign: string;
}

async function createCampaign(name: string): Promise<Sending> {
  const api = await system.api();
  return { api, name, campaign: await addCampaign(system.pool, api, { name, recipients: RECIPIENTS }) };
}

/** Starts a campaign, and waits until a part of it has been sent. */
async function start({ api, name, campaign }: Sending): Promise<void> {
  expect((await api.post(`/v1/campaigns/${campaign}/send`)).status).toBe(202);
  await received(name, RECIPIENTS * 0.15);
}

const toRecipients = (name: string) => sink.mails.filter(({ to }) => to.startsWith(name)).map(({ to }) => to);
const received = (name: string, count: number) =>
  eventually(() => expect(toRecipients(name).length).toBeGreaterThan(count), 60_000);

/** Posts emails faster than they are sent. */
async function sendBurst({ api, name }: Sending): Promise<void> {
  const post = (n: number) =>
    api.post('/v1/emails', {
      from: 'post@example.com',
      to: `receipt-${name}-${n}@mail.test`,
      subject: 'Receipt',
      text: 'Thank you.',
    });
  for (let n = 0; n < EMAILS; n += 50)
    await Promise.all(Array.from({ length: 50 }, async (_, i) => expect((await post(n + i)).status).toBe(202)));
}

/** Why sending is held, once it is. */
const heldReason = () =>
  eventually(async () => {
    const { held_reason } = await one('SELECT held_reason FROM installation');
    expect(held_reason).toBeTypeOf('string');
    return held_reason;
  }, 60_000);

async function expectNoMail(): Promise<void> {
  await sleep(1_000); // what was in flight
  const before = sink.mails.length;
  await sleep(20_000); // longer than an activity waits for its next attempt
  expect(sink.mails.length).toBe(before);
}

/** No address gets a message twice, and those that may have one without the database knowing are listed. */
async function expectNothingTwice({ api, name, campaign }: Sending, listFile: string): Promise<void> {
  await eventually(async () => {
    const row = await one('SELECT status FROM campaigns WHERE id = $1', [campaign]);
    expect(row).toEqual({ status: 'completed' });
  }, 90_000);
  await eventually(async () => {
    const { open } = await one(
      `SELECT count(*)::int AS open FROM messages WHERE project_id = $1 AND state IN ('planned', 'claimed')`,
      [api.projectId],
    );
    expect(open).toBe(0);
  }, 60_000);
  const { rows } = await system.pool.query<{ email: string; state: string }>(
    'SELECT email, state FROM messages WHERE project_id = $1',
    [api.projectId],
  );
  const counts = sink.counts();
  const listed = readFileSync(listFile, 'utf8');
  const wrong = rows.filter(({ email, state }) => {
    const times = counts.get(email) ?? 0;
    if (times > 1) return true;
    return state === 'accepted' ? times !== 1 : !(state === 'unknown' && listed.includes(`,${email}\r\n`));
  });
  expect(wrong).toEqual([]);
  expect([...counts.values()].filter((times) => times > 1)).toEqual([]);
  const isCampaign = ({ email }: { email: string }) => email.startsWith(name);
  const unknown = rows.filter((row) => row.state === 'unknown' && isCampaign(row));
  const truly = unknown.filter(({ email }) => counts.has(email));
  console.log(`${name}: ${unknown.length} unknown, of which ${truly.length} had been sent`);
  expect(truly.length).toBeGreaterThan(100);
  // The reservations cover little more than what was sent.
  expect(unknown.length - truly.length).toBeLessThan(RECIPIENTS / 4);
  const row = await one('SELECT accepted_count + unknown_count AS total, unknown_count FROM campaigns WHERE id = $1', [
    campaign,
  ]);
  expect(row).toEqual({ total: RECIPIENTS, unknown_count: unknown.length });
}

test(
  'PostgreSQL recovered to a point in the middle of a campaign and of a burst, under a running worker: nothing is sent twice',
  { timeout },
  async () => {
    await postgres.backUp();
    await system.startWorker();
    const sending = await createCampaign('recovered');
    await start(sending);
    const burst = sendBurst(sending);
    await received('receipt-recovered', 50);
    const { time } = await one('SELECT clock_timestamp()::text AS time');
    await burst;
    await received('recovered', RECIPIENTS * 0.5);
    await postgres.recoverTo(time);

    expect(await heldReason()).toMatch(/timeline|older/);
    await expectNoMail();
    const file = join(folder, 'recovered.csv');
    expect(await afterRestore('--list', file)).toContain('Sending is held');
    expect(await afterRestore('--release')).toContain('Sending is released.');
    await expectNothingTwice(sending, file);
  },
);

test(
  'PostgreSQL returned to a copy of its disk while no worker runs: the next worker finds sending held, and nothing is sent twice',
  { timeout },
  async () => {
    await system.startWorker();
    const sending = await createCampaign('copied');
    await start(sending);
    await postgres.copyDisk();
    await received('copied', RECIPIENTS * 0.5);
    await sendBurst(sending); // gone with the restore
    await system.killWorker();
    await postgres.returnToCopy();
    await system.startWorker();

    expect(await heldReason()).toMatch(/older/);
    await expectNoMail();
    const file = join(folder, 'copied.csv');
    await afterRestore('--list', file, '--release');
    await expectNothingTwice(sending, file);
  },
);

test(
  'a campaign that was started after the restored point is paused, as are journeys, and mails nobody',
  { timeout },
  async () => {
    const sending = await createCampaign('later');
    const { api } = sending;
    const steps = [{ id: 'later', type: 'wait', for: { days: 2 }, next: null }];
    const made = await api.post('/v1/journeys', { name: 'Later', definition: { entry: { type: 'manual' }, steps } });
    const journey = `/v1/journeys/${made.body.data.id}`;
    expect((await api.post(`${journey}/publish`, {})).body.data).toMatchObject({ status: 'active' });
    await postgres.copyDisk();
    await system.startWorker();
    await start(sending);
    await system.killWorker();
    await sleep(1_000); // what was in flight
    const before = toRecipients('later').length;
    await postgres.returnToCopy();
    await system.startWorker();
    expect(await afterRestore('--release')).toContain(`${sending.campaign}: started after the restored point`);
    const row = await one('SELECT status, pause_reason FROM campaigns WHERE id = $1', [sending.campaign]);
    expect(row).toEqual({ status: 'paused', pause_reason: expect.stringContaining('Sending had begun before') });
    const pausedReason = expect.stringMatching(/^The database was restored to an earlier time/);
    expect((await api.get(journey)).body.data).toMatchObject({ status: 'paused', pausedReason });
    expect((await api.post(`${journey}/resume`)).body.data).toMatchObject({ status: 'active', pausedReason: null });
    await sleep(5_000);
    expect(toRecipients('later').length).toBe(before);
  },
);

test(
  'with HOLD_SENDING mail is accepted and none leaves; released, all of it leaves exactly once',
  { timeout },
  async () => {
    const name = 'held';
    const sending = await createCampaign(name);
    await system.startWorker({ HOLD_SENDING: 'true' });
    await sendBurst(sending);
    expect((await sending.api.post(`/v1/campaigns/${sending.campaign}/send`)).status).toBe(202);
    await expectNoMail();
    expect(await reportedHeld()).toBe('1');
    expect(await findingOf({ HOLD_SENDING: 'true' })).toMatchObject({ status: 'warning' });

    // A hold by the database outlasts the setting, and the setting outlasts a release.
    await system.pool.query(`UPDATE installation SET held_reason = 'A test.', held_at = now()`);
    expect(await findingOf({})).toMatchObject({ status: 'warning', detail: expect.stringContaining('A test.') });
    await system.killWorker();
    await system.startWorker();
    await expectNoMail();
    expect(await reportedHeld()).toBe('1');
    expect(await afterRestoreWith({ HOLD_SENDING: 'true' }, '--release')).toContain('Sending is held: HOLD_SENDING');
    await eventually(() => expect(toRecipients(name)).toHaveLength(RECIPIENTS), 90_000);
    await eventually(() => expect(toRecipients('receipt-held')).toHaveLength(EMAILS), 60_000);
    await sleep(2_000);
    const counts = [...sink.counts()].filter(([to]) => to.startsWith(name) || to.startsWith('receipt-held'));
    expect(counts).toHaveLength(RECIPIENTS + EMAILS);
    expect(counts.filter(([, times]) => times !== 1)).toEqual([]);
    await eventually(async () => expect(await reportedHeld()).toBe('0'));
    expect(await findingOf({})).toMatchObject({ status: 'ok' });
  },
);

test(
  'PostgreSQL and Temporal both lost: the journal alone tells what may have been sent, and nothing is sent twice',
  { timeout },
  async () => {
    const SENDING_JOURNAL = join(folder, 'journal');
    await system.startWorker({ SENDING_JOURNAL });
    const sending = await createCampaign('journaled');
    await start(sending);
    await postgres.copyDisk();
    await received('journaled', RECIPIENTS * 0.5);
    await system.killWorker();
    await postgres.returnToCopy();
    // What a Temporal server knows whose data is gone: nothing.
    const TEMPORAL_NAMESPACE = `restore-${newId('req')}`;
    const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
    const workflowExecutionRetentionPeriod = { seconds: 86_400 };
    await connection.workflowService.registerNamespace({
      namespace: TEMPORAL_NAMESPACE,
      workflowExecutionRetentionPeriod,
    } as never);
    await connection.close();
    const settings = { SENDING_JOURNAL, TEMPORAL_NAMESPACE };
    await system.startWorker(settings);

    expect(await heldReason()).toMatch(/older/);
    await expectNoMail();
    const file = join(folder, 'journaled.csv');
    await afterRestoreWith(settings, '--list', file, '--release');
    await expectNothingTwice(sending, file);
  },
);
