import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordReports } from '@postroom/bounces';
import { type MailboxServer, startMailboxServer } from '@postroom/transports/testing';
import { newId, secretColumn } from '@postroom/platform';
import { eventually, type SmtpSink, startSmtpSink, startSystem, type System, type SystemApi } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { campaignKit } from './testing.ts';

const SENDER = 'ada@mailbox.test';
const folder = mkdtempSync(join(tmpdir(), 'postroom-mailbox-'));

let server: MailboxServer;
let sink: SmtpSink;
let system: System;
const { campaignTo, untilStatus, eventsOf, expectCountersToAgree } = campaignKit(() => ({ system, sink }));

beforeAll(async () => {
  [server, sink] = await Promise.all([startMailboxServer(), startSmtpSink()]);
  server.passwords.set(SENDER, 'secret');
  writeFileSync(join(folder, 'ca.pem'), server.cert);
  system = await startSystem({ smtpUrl: sink.url, env: { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } });
  await system.startWorker();
}, 120_000);

afterAll(async () => {
  await system.stop();
  await Promise.all([sink.close(), server.close()]);
  rmSync(folder, { recursive: true });
});

async function connectMailbox({ projectId }: SystemApi, { dailyCap = 100, password = 'secret' } = {}): Promise<string> {
  const id = newId('mbx');
  await system.pool.query(
    `INSERT INTO mailbox_accounts (id, project_id, email, email_key, provider, host, port, implicit_tls, username, sign_in,
       credentials, status, per_minute, daily_cap)
     VALUES ($1, $2, $3, $3, 'other', $4, $5, false, $3, 'password', $6, 'connected', 600, $7)`,
    [
      id,
      projectId,
      SENDER,
      server.host,
      server.port,
      secretColumn('mailbox_accounts', 'credentials').encrypt(JSON.stringify({ password }), id),
      dailyCap,
    ],
  );
  return id;
}

const takenFor = (word: string) => server.mails.filter(({ to }) => to.startsWith(word)).map(({ to }) => to);
const report = async (messageId: string, kind: 'bounced' | 'complained' | 'rejected') => {
  const client = await system.pool.connect();
  await recordReports(client, [{ messageId, kind, at: new Date(), detail: '550 5.1.1 no such user' }]);
  client.release();
};

test('a campaign from a mailbox is sent through its own server and counts as delivered once that server accepts it', async () => {
  const { api, path, id } = await campaignTo('by-mailbox', 5, { from_email: SENDER });
  expect((await api.post(`${path}/send`)).status).toBe(403);
  await connectMailbox(api);
  const reply = await api.post(`${path}/send`);
  expect(reply.status, JSON.stringify(reply.body)).toBe(202);
  const campaign = await untilStatus(api, path, 'completed');
  expect(campaign.engagement).toMatchObject({ sent: 5, delivered: 5, bounced: 0, complained: 0 });
  expect(new Set(takenFor('by-mailbox')).size).toBe(5);
  expect(takenFor('by-mailbox')).toHaveLength(5);
  expect(server.mails.every(({ user, from }) => user === SENDER && from === SENDER)).toBe(true);
  expect(sink.mails).toEqual([]);
  expect(await eventsOf(api, 'email.sent')).toHaveLength(5);
  const delivered = await eventsOf(api, 'email.delivered');
  expect(delivered).toHaveLength(5);
  expect(delivered[0]).toMatchObject({
    email: expect.stringMatching(/^by-mailbox/),
    campaign_id: id,
    message_id: expect.stringMatching(/^eml_/),
  });
  await expectCountersToAgree(api, path);
});

test('mail from a mailbox emits no bounced, complained or rejected event and suppresses no one', async () => {
  const { api, path } = await campaignTo('no-bounce', 1, { from_email: SENDER });
  await connectMailbox(api);
  await api.post(`${path}/send`);
  await untilStatus(api, path, 'completed');
  const [event] = await eventsOf(api, 'email.sent');
  for (const kind of ['bounced', 'complained', 'rejected'] as const) await report(String(event?.message_id), kind);
  for (const type of ['email.bounced', 'email.complained', 'email.rejected'])
    expect(await eventsOf(api, type)).toEqual([]);
  expect((await api.get('/v1/suppressions')).body.data).toEqual([]);
});

test("a mailbox stops at its daily cap; the rest waits while the project's other mail is still sent", async () => {
  const { api, path } = await campaignTo('capped', 4, { from_email: SENDER });
  await connectMailbox(api, { dailyCap: 2 });
  await api.post(`${path}/send`);
  await eventually(async () => {
    const { status, progress } = (await api.get(path)).body.data;
    expect({ status, ...progress }).toMatchObject({
      status: 'sending',
      accepted: 2,
      planned: 2,
      claimed: 0,
      failed: 0,
    });
  });
  const email = { to: 'urgent@mail.test', subject: 'Now', text: 'Now' };
  const waiting = (await api.post('/v1/emails', { ...email, from: SENDER })).body.data.id;
  const going = (await api.post('/v1/emails', { ...email, from: 'hello@example.com' })).body.data.id;
  await eventually(async () => {
    expect((await api.get(`/v1/emails/${going}`)).body.data.status).toBe('sent');
  });
  expect((await api.get(`/v1/emails/${waiting}`)).body.data.status).toBe('queued');
  expect(takenFor('capped')).toHaveLength(2);
});

test('an email from a mailbox is delivered when its server accepts it and fails when the server rejects it', async () => {
  const api = await system.api();
  await connectMailbox(api);
  server.answer = (to) => (to === 'nobody@mail.test' ? { code: 550, message: '5.1.1 no such user' } : undefined);
  const send = async (to: string) =>
    (await api.post('/v1/emails', { from: SENDER, to, subject: 'Hi', text: 'Hi' })).body.data.id as string;
  const [good, bad] = [await send('somebody@mail.test'), await send('nobody@mail.test')];
  await eventually(async () => {
    expect((await api.get(`/v1/emails/${good}`)).body.data.status).toBe('delivered');
    expect((await api.get(`/v1/emails/${bad}`)).body.data.status).toBe('failed');
  });
  expect(await eventsOf(api, 'email.delivered')).toMatchObject([{ message_id: good }]);
  expect(await eventsOf(api, 'email.failed')).toMatchObject([{ message_id: bad }]);
  expect(await eventsOf(api, 'email.bounced')).toEqual([]);
});

test('a campaign whose mailbox rejects our password is paused with the reason and keeps its messages', async () => {
  const { api, path } = await campaignTo('refused', 3, { from_email: SENDER });
  await connectMailbox(api, { password: 'wrong' });
  await api.post(`${path}/send`);
  const campaign = await untilStatus(api, path, 'paused');
  expect(campaign.pauseReason).toMatch(/rejects our credentials or settings: 535/);
  expect(campaign.progress).toMatchObject({ planned: 3, failed: 0 });
  expect(await eventsOf(api, 'campaign.paused')).toHaveLength(1);
  expect((await api.post(`${path}/resume`)).status).toBe(403);
});
