import { setTimeout as sleep } from 'node:timers/promises';
import { addLocalDomain } from '@postroom/domains';
import { inTransaction, newId, pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { holdMail } from '@postroom/emails/testing';
import { settle } from '@postroom/ledger';
import { recordReceivedReport } from '../src/received-report.ts';
import { recordReports, type Report } from '../src/reports.ts';
import { returnAddress } from '../src/return-address.ts';
import { checkPlans } from '@postroom/testkit/plans';

checkPlans();

/** A campaign with `count` messages in a state, paused so that no worker continues it. */
async function campaignWith(state: string, count: number) {
  const api = await testApi();
  const campaignId = newId('cmp');
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, recipient_count, accepted_count, unknown_count, updated_at)
     VALUES ($1, $2, 'News', 'News', 'paused', $3, CASE $4 WHEN 'accepted' THEN $3 ELSE 0 END, CASE $4 WHEN 'unknown' THEN $3 ELSE 0 END, now())`,
    [campaignId, api.projectId, count, state],
  );
  const ids = Array.from({ length: count }, () => newId('eml'));
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, claim, unsent_at)
     SELECT id, $2, $3, 'ctc_' || right(id, 26), 'r' || n || '@mail.test', $4::message_state, 'claim', CASE $4 WHEN 'unknown' THEN now() END
     FROM unnest($1::text[]) WITH ORDINALITY AS t(id, n)`,
    [ids, api.projectId, campaignId, state],
  );
  return { api, campaignId, ids };
}

const report = (...reports: Report[]) => inTransaction((client) => recordReports(client, reports));
const at = new Date('2026-11-21T10:00:00Z');
const told = (messageId: string, kind: Report['kind'], detail?: string): Report => ({ messageId, kind, at, detail });
const typesOf = async (api: Api) =>
  (await api.events()).map(({ type }) => type).filter((type) => type.startsWith('email.'));
const engagementOf = async (api: Api, id: string) => (await api.get(`/v1/campaigns/${id}`)).body.data.engagement;

test('a report is a fact, one event and one count, however often the provider repeats itself', async () => {
  const { api, campaignId, ids } = await campaignWith('accepted', 2);
  const reports = ids.map((id) => told(id, 'delivered'));
  await report(...reports, ...reports);
  await report(...reports);
  expect(await typesOf(api)).toEqual(['email.delivered', 'email.delivered']);
  expect(await engagementOf(api, campaignId)).toMatchObject({ sent: 2, delivered: 2 });
  const { data } = (await api.get(`/v1/emails/${ids[0]}`)).body;
  expect(data).toMatchObject({ status: 'delivered' });
});

test('a thousand reports on new messages are recorded in one statement', async () => {
  const { api, campaignId, ids } = await campaignWith('accepted', 1_000);
  await report(...ids.map((id, index) => told(id, index % 2 === 0 ? 'delivered' : 'bounced', `550 5.7.1 ${id}`)));
  expect(await engagementOf(api, campaignId)).toMatchObject({ delivered: 500, bounced: 500 });
  const { rows: wrong } = await pool.query(
    `SELECT id FROM messages WHERE campaign_id = $1 AND (bounced_at IS NULL) = (delivered_at IS NULL)
       OR campaign_id = $1 AND bounced_at IS NOT NULL AND bounce_reason IS DISTINCT FROM '550 5.7.1 ' || id`,
    [campaignId],
  );
  expect(wrong).toEqual([]);
});

test('engagement events can arrive out of order: each is recorded as it comes', async () => {
  const { api, campaignId, ids } = await campaignWith('accepted', 1);
  await report({ ...told(ids[0]!, 'complained'), at: new Date(at.getTime() + 60_000) });
  await report(told(ids[0]!, 'delivered'));
  expect(await typesOf(api)).toEqual(['email.complained', 'email.delivered']);
  expect(await engagementOf(api, campaignId)).toMatchObject({ delivered: 1, complained: 1 });
  expect((await api.get(`/v1/emails/${ids[0]}`)).body.data.status).toBe('complained');
});

test('the engagement of a campaign says whether deliveries are reported, or only acceptance is known', async () => {
  const { api, campaignId, ids } = await campaignWith('accepted', 3);
  const engagement = () => engagementOf(api, campaignId);
  expect(await engagement()).toMatchObject({ sent: 3, delivered: 0, deliveryTracking: 'accepted_only' });
  await report(told(ids[0]!, 'bounced', '550 5.1.1 No such user'));
  expect(await engagement()).toMatchObject({ deliveryTracking: 'accepted_only' });
  await report(told(ids[1]!, 'delivered'));
  expect(await engagement()).toMatchObject({ sent: 3, delivered: 1, deliveryTracking: 'reported' });
  const draft = (await api.post('/v1/campaigns', { name: 'Draft' })).body.data;
  expect(draft.engagement).toMatchObject({ sent: 0, delivered: 0, deliveryTracking: null });
});

test('email events show email, message_id, subject and campaign_id', async () => {
  const { api, campaignId, ids } = await campaignWith('accepted', 1);
  await report(told(ids[0]!, 'bounced', '550 5.1.1 No such user'));
  const [event] = await api.events('email.bounced');
  expect(event?.data).toMatchObject({
    email: 'r1@mail.test',
    message_id: ids[0],
    subject: 'News',
    campaign_id: campaignId,
    reason: '550 5.1.1 No such user',
  });
});

test('a message whose outcome was unknown has been accepted when anything is reported of it, and email.sent comes first', async () => {
  const { api, campaignId, ids } = await campaignWith('unknown', 1);
  await report(told(ids[0]!, 'delivered'));
  expect(await typesOf(api)).toEqual(['email.sent', 'email.delivered']);
  const { progress, engagement } = (await api.get(`/v1/campaigns/${campaignId}`)).body.data;
  expect(progress).toMatchObject({ unknown: 0, accepted: 1 });
  expect(engagement).toMatchObject({ sent: 1, delivered: 1 });
});

test('no message is reported on before it was accepted, whatever the clock of the provider', async () => {
  const { ids } = await campaignWith('claimed', 3);
  const [before, after, unknown] = ids as [string, string, string];
  const timesOf = async (id: string) => {
    const { rows } = await pool.query(
      `SELECT claimed_at AS claimed, accepted_at AS accepted, delivered_at AS delivered FROM messages WHERE id = $1`,
      [id],
    );
    return rows[0] as Record<'claimed' | 'accepted' | 'delivered', Date>;
  };
  await pool.query("UPDATE messages SET claimed_at = now() - interval '1 min' WHERE id = ANY ($1)", [ids]);
  await report(told(before, 'delivered'));
  const settled = (id: string) => ({ id, state: 'accepted' as const, answer: '250 OK' });
  await settle('claim', [settled(before), settled(after)]);
  await report(told(after, 'delivered'));
  await pool.query("UPDATE messages SET state = 'unknown', unsent_at = now() WHERE id = $1", [unknown]);
  await report(told(unknown, 'delivered'));
  for (const id of ids) {
    const { claimed, accepted, delivered } = await timesOf(id);
    expect([claimed, accepted, delivered]).toEqual([claimed, accepted, delivered].toSorted((a, b) => +a - +b));
  }
});

test('a report about a message that is being sent does not end its sending', async () => {
  const { api, ids } = await campaignWith('claimed', 1);
  await report(told(ids[0]!, 'delivered'));
  const { rows } = await pool.query('SELECT state, delivered_at FROM messages WHERE id = $1', [ids[0]]);
  expect(rows).toEqual([{ state: 'claimed', delivered_at: at }]);
  expect(await typesOf(api)).toEqual(['email.delivered']);
});

test('a bounce that comes before the outcome of its message is recorded waits for it, for two seconds', async () => {
  const { api, ids } = await campaignWith('claimed', 2);
  const [id, left] = ids as [string, string];
  const bounced = (messageId: string) =>
    recordReceivedReport({
      address: returnAddress(messageId, 'bounce.example.com', { projectId: api.projectId, email: 'r1@mail.test' }),
      kind: 'bounced',
      named: [],
    });
  const recording = bounced(id);
  expect(await Promise.race([recording, sleep(300, 'waits')])).toBe('waits');
  await settle('claim', [{ id, state: 'accepted', answer: '250 OK' }]);
  await recording;
  expect(await typesOf(api)).toEqual(['email.sent', 'email.bounced']);
  // Its worker was killed.
  await bounced(left);
  expect(await typesOf(api)).toEqual(['email.sent', 'email.bounced', 'email.bounced']);
});

test('hard bounces and complaints suppress the address; a full mailbox does not', async () => {
  const { api, campaignId, ids } = await campaignWith('accepted', 3);
  await report(
    told(ids[0]!, 'bounced', 'smtp; 550 5.1.1 No such user'),
    told(ids[1]!, 'bounced', 'smtp; 552 5.2.2 Mailbox full'),
    told(ids[2]!, 'delivered'),
    told(ids[2]!, 'complained'),
  );
  const suppressions = (await api.get('/v1/suppressions')).body.data;
  const reasons = suppressions
    .map(({ email, reason }: { email: string; reason: string }) => `${email} ${reason}`)
    .sort();
  expect(reasons).toEqual(['r1@mail.test bounced', 'r3@mail.test complained']);
  expect(await engagementOf(api, campaignId)).toMatchObject({ bounced: 2, complained: 1, delivered: 1 });
  expect((await typesOf(api)).sort()).toEqual([
    'email.bounced',
    'email.bounced',
    'email.complained',
    'email.delivered',
  ]);
});

test('a bounce is classified by the reply, and keeps its first reason', async () => {
  const { api, campaignId, ids } = await campaignWith('accepted', 4);
  await report(
    told(ids[0]!, 'bounced', 'smtp; 550 5.1.1 No such user'),
    told(ids[1]!, 'bounced', 'smtp; 552 5.2.2 Mailbox full'),
    told(ids[2]!, 'bounced'),
    told(ids[3]!, 'delivered', '250 ok'),
  );
  await report(told(ids[0]!, 'bounced', 'smtp; 552 5.2.2 Mailbox full'));
  const { data } = (await api.get(`/v1/campaigns/${campaignId}/recipients`)).body;
  const reasons = data.map(({ email, bounceClass, bounceReason }: Record<string, unknown>) => [
    email,
    bounceClass,
    bounceReason,
  ]);
  expect(reasons.reverse()).toEqual([
    ['r1@mail.test', 'hard', 'smtp; 550 5.1.1 No such user'],
    ['r2@mail.test', 'soft', 'smtp; 552 5.2.2 Mailbox full'],
    ['r3@mail.test', 'hard', null],
    ['r4@mail.test', null, null],
  ]);
});

test('a rejected message is one event and one count, and shows as failed', async () => {
  const { api, campaignId, ids } = await campaignWith('accepted', 1);
  for (let times = 0; times < 2; times++) await report(told(ids[0]!, 'rejected', 'A virus'));
  expect(await api.events('email.rejected')).toHaveLength(1);
  expect(await engagementOf(api, campaignId)).toMatchObject({ sent: 1, bounced: 0, rejected: 1 });
  expect((await api.events('email.rejected'))[0]?.data).toMatchObject({ reason: 'A virus' });
  expect((await api.get(`/v1/emails/${ids[0]}`)).body.data.status).toBe('failed');
});

test('of an email to several addresses the one that is named is told about', async () => {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  await holdMail(api.projectId);
  const email = { from: 'a@example.com', to: ['to@mail.test'], cc: ['cc@mail.test'], subject: 'x', text: 'x' };
  const { id } = (await api.post('/v1/emails', email)).body.data;
  await pool.query(`UPDATE messages SET state = 'accepted', accepted_at = now() WHERE id = $1 OR copy_of = $1`, [id]);
  await report({ ...told(id, 'delivered'), recipient: 'CC@mail.test' });
  expect((await api.get(`/v1/emails/${id}`)).body.data.recipients).toMatchObject([
    { status: 'sent' },
    { status: 'delivered' },
  ]);
  expect((await api.events('email.delivered'))[0]?.data).toMatchObject({ email: 'cc@mail.test', message_id: id });
});

test('reports about messages that are not ours are ignored', async () => {
  await expect(report(told('eml_01h455vb4pex5vsknk084sn02q', 'delivered'))).resolves.toBeUndefined();
});

test('many at once, in any order, do not wait for each other in a circle, and none is lost', async () => {
  const campaigns = await Promise.all([campaignWith('accepted', 200), campaignWith('accepted', 200)]);
  const reports = campaigns.flatMap(({ ids }) => ids.map((id) => told(id, 'delivered')));
  const shuffled = () => reports.toSorted(() => Math.random() - 0.5);
  await Promise.all(Array.from({ length: 8 }, () => report(...shuffled())));
  for (const { api, campaignId } of campaigns) {
    expect(await engagementOf(api, campaignId)).toMatchObject({ delivered: 200 });
    expect(await api.events('email.delivered')).toHaveLength(200);
  }
});

test('a report is about the recipient whom it names, and suppresses every spelling of the address', async () => {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  await holdMail(api.projectId);
  const send = (to: string[], cc: string[] = []) =>
    api.post('/v1/emails', { from: 'a@example.com', to, cc, subject: 'x', text: 'x' });
  const { id } = (await send(['to@mail.test'], ['cc@bücher.example'])).body.data;
  await pool.query(`UPDATE messages SET state = 'accepted', accepted_at = now() WHERE id = $1 OR copy_of = $1`, [id]);
  await report({ ...told(id, 'complained'), recipient: 'CC@xn--bcher-kva.example' });
  for (const spelling of ['cc@BÜCHER.example', 'cc@xn--bcher-kva.example', 'ｃｃ@bücher。example']) {
    const again = (await send([spelling])).body.data;
    expect([spelling, again.status]).toEqual([spelling, 'suppressed']);
  }
  expect((await send(['to@mail.test'])).body.data.status).toBe('queued');
});
