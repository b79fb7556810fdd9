import { eventually, mailSystem, type SystemApi, temporalClient } from '@postroom/testkit';
import { recordReports } from '@postroom/bounces';
import { describe, expect, test } from 'vitest';
import { campaignKit } from './testing.ts';

const { sink, system } = await mailSystem((to) =>
  refused.has(to) ? { code: 554, message: '5.7.1 Refused by policy' } : undefined,
);
const temporal = await temporalClient();

/** Addresses that the server currently rejects. */
const refused = new Set<string>();

const { campaignTo, read, untilStatus, eventsOf, expectCountersToAgree, taken, recipients } = campaignKit(() => ({
  system,
  sink,
}));

/** A completed campaign with that many failed messages, which the server would now accept. */
async function partlyRefused(word: string, count: number, failures: number) {
  const names = Array.from({ length: failures }, (_, index) => `${word}${index}@mail.test`);
  for (const name of names) refused.add(name);
  const made = await campaignTo(word, count);
  expect((await made.api.post(`${made.path}/send`)).status).toBe(202);
  const campaign = await untilStatus(made.api, made.path, 'completed');
  expect(campaign.progress).toMatchObject({ accepted: count - failures, failed: failures });
  for (const name of names) refused.delete(name);
  return { ...made, names };
}

/** Marks recipients of a campaign unknown, as a killed worker leaves them. */
async function makeUnknown(path: string, count: number): Promise<string[]> {
  const { rows } = await system.pool.query<{ id: string }>(
    `WITH lost AS (
       UPDATE messages SET state = 'unknown', unsent_at = now(), accepted_at = NULL, claim = 'killed'
       WHERE id IN (SELECT id FROM messages WHERE campaign_id = $1 AND state = 'accepted' ORDER BY id LIMIT $2) RETURNING id
     ), counted AS (
       UPDATE campaigns SET accepted_count = accepted_count - $2, unknown_count = unknown_count + $2 WHERE id = $1
     ) SELECT id FROM lost`,
    [path.split('/').at(-1), count],
  );
  return rows.map(({ id }) => id);
}

const startedAndCompleted = async (api: SystemApi) => [
  (await eventsOf(api, 'campaign.started')).length,
  (await eventsOf(api, 'campaign.completed')).length,
];

describe('retrying', () => {
  test('resends to all failed recipients and no one else; the campaign completes again, and started and completed are emitted once each', async () => {
    const { api, path } = await partlyRefused('retry', 30, 5);
    const reply = await api.post(`${path}/recipients/retry`);
    expect(reply.status, JSON.stringify(reply.body)).toBe(202);
    expect(reply.body).toMatchObject({ data: { completedAt: null }, recipients: 5 });
    expect(['sending', 'completed']).toContain(reply.body.data.status);
    const campaign = await untilStatus(api, path, 'completed');
    expect(campaign.progress).toMatchObject({ accepted: 30, failed: 0 });
    expect(taken('retry').map(([, count]) => count)).toEqual(Array(30).fill(1));
    expect(await startedAndCompleted(api)).toEqual([1, 1]);
    expect(await eventsOf(api, 'email.sent')).toHaveLength(30);
    await expectCountersToAgree(api, path);
  });

  test('resends only to named recipients; other ids are ignored and not counted', async () => {
    const { api, path, names } = await partlyRefused('some', 10, 3);
    const failed = await recipients(api, path, 'failed');
    const accepted = await recipients(api, path, 'accepted');
    const one = failed.find(({ email }) => email === names[1])?.id;
    const reply = await api.post(`${path}/recipients/retry`, { recipient_ids: [one, accepted[0]?.id, 'eml_nobody'] });
    expect(reply.body.recipients).toBe(1);
    const campaign = await untilStatus(api, path, 'completed');
    expect(campaign.progress).toMatchObject({ accepted: 8, failed: 2 });
    expect(taken('some').every(([, count]) => count === 1)).toBe(true);
    await expectCountersToAgree(api, path);
  });

  test('with no failed recipients changes nothing: the campaign stays completed', async () => {
    const { api, path } = await partlyRefused('nobody', 2, 0);
    const reply = await api.post(`${path}/recipients/retry`);
    expect([reply.status, reply.body.recipients, reply.body.data.status]).toEqual([202, 0, 'completed']);
  });

  test('twice concurrently resends to each recipient once', async () => {
    const { api, path } = await partlyRefused('twice', 40, 20);
    const replies = await Promise.all(Array.from({ length: 4 }, () => api.post(`${path}/recipients/retry`)));
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    expect(replies.reduce((sum, { body }) => sum + body.recipients, 0)).toBe(20);
    await untilStatus(api, path, 'completed');
    expect(taken('twice').map(([, count]) => count)).toEqual(Array(40).fill(1));
    expect(await startedAndCompleted(api)).toEqual([1, 1]);
    await expectCountersToAgree(api, path);
  });

  test('of a sending campaign joins the current run, repeatedly, until every recipient has the message', async () => {
    refused.add('join0@mail.test');
    const { api, path } = await campaignTo('join', 60, { rate_per_second: 30 });
    await api.post(`${path}/send`);
    await eventually(async () => expect((await read(api, path)).progress.failed).toBe(1));
    refused.delete('join0@mail.test');
    const replies = await Promise.all([1, 2, 3].map(() => api.post(`${path}/recipients/retry`)));
    expect(replies.reduce((sum, { body }) => sum + body.recipients, 0)).toBe(1);
    expect((await untilStatus(api, path, 'completed')).progress.accepted).toBe(60);
    expect(taken('join').map(([, count]) => count)).toEqual(Array(60).fill(1));
    expect(await startedAndCompleted(api)).toEqual([1, 1]);
    await expectCountersToAgree(api, path);
  });

  test('survives kill -9 of the worker before it starts, and resumes with the next worker', async () => {
    const { api, path } = await partlyRefused('kill', 20, 10);
    await system.killWorker();
    expect((await api.post(`${path}/recipients/retry`)).body.data.status).toBe('sending');
    await system.startWorker();
    expect((await untilStatus(api, path, 'completed')).progress).toMatchObject({ accepted: 20, failed: 0 });
    expect(taken('kill').map(([, count]) => count)).toEqual(Array(20).fill(1));
    await expectCountersToAgree(api, path);
  }, 90_000);

  test('never sends to an address suppressed in the meantime', async () => {
    const { api, path, names } = await partlyRefused('left', 3, 2);
    await api.post('/v1/suppressions', { email: names[0] });
    await api.post(`${path}/recipients/retry`);
    expect((await untilStatus(api, path, 'completed')).progress).toMatchObject({ accepted: 2, suppressed: 1 });
    await expectCountersToAgree(api, path);
  });

  test('a draft or a canceled campaign is 409 conflict; a sender that may not send is 403 forbidden', async () => {
    const { api, path, another } = await partlyRefused('wrong', 60, 1);
    const draft = await another();
    expect((await api.post(`${draft.path}/recipients/retry`)).status).toBe(409);
    const canceled = await another({ rate_per_second: 1 });
    await api.post(`${canceled.path}/send`);
    await api.post(`${canceled.path}/cancel`);
    expect((await api.post(`${canceled.path}/recipients/retry`)).status).toBe(409);
    await system.pool.query('UPDATE domains SET verified_for_sending = false WHERE project_id = $1', [api.projectId]);
    expect((await api.post(`${path}/recipients/retry`)).status).toBe(403);
    expect((await read(api, path)).status).toBe('completed');
  });
});

describe('recipients whose outcome is unknown', () => {
  test('are resolved as accepted or as failed, with their events and counters, and nothing is sent', async () => {
    const { api, path } = await partlyRefused('doubt', 12, 0);
    const [one, ...others] = await makeUnknown(path, 4);
    const accepted = await api.post(`${path}/recipients/resolve`, { outcome: 'accepted', recipient_ids: [one] });
    expect([accepted.status, accepted.body.recipients]).toEqual([200, 1]);
    const failed = await api.post(`${path}/recipients/resolve`, { outcome: 'failed' });
    expect(failed.body).toMatchObject({ data: { status: 'completed' }, recipients: 3 });
    expect(await recipients(api, path, 'failed')).toHaveLength(3);
    expect((await eventsOf(api, 'email.failed')).map(({ message_id }) => message_id).sort()).toEqual(others.sort());
    expect(taken('doubt').map(([, count]) => count)).toEqual(Array(12).fill(1));
    await expectCountersToAgree(api, path);
  });

  test('are resent only if duplicates are accepted, and keep their Message-ID', async () => {
    const { api, path } = await partlyRefused('again', 6, 0);
    const [one] = await makeUnknown(path, 2);
    expect((await api.post(`${path}/recipients/retry`)).body.recipients).toBe(0);
    for (const body of [{ accept_duplicates: false }, {}]) {
      const reply = await api.post(`${path}/recipients/resend`, body);
      expect(reply.status).toBe(400);
      expect(JSON.stringify(reply.body.error.details)).toContain('accept_duplicates');
    }
    const reply = await api.post(`${path}/recipients/resend`, { accept_duplicates: true, recipient_ids: [one] });
    expect([reply.status, reply.body.recipients]).toEqual([202, 1]);
    expect((await untilStatus(api, path, 'completed')).progress).toMatchObject({ accepted: 5, unknown: 1 });
    const twice = taken('again').filter(([, count]) => count === 2);
    expect(twice).toHaveLength(1);
    const ids = sink.mails
      .filter(({ to }) => to === twice[0]?.[0])
      .map(({ raw }) => /^Message-ID: .*$/im.exec(raw)?.[0]);
    expect(ids[0]).toBe(ids[1]);
    await expectCountersToAgree(api, path);
  });

  test('that a provider reports on before the resend become accepted and are not sent', async () => {
    const { api, path, id } = await partlyRefused('report', 4, 0);
    const [one = ''] = await makeUnknown(path, 1);
    // Pause between the decision and the send.
    await system.pool.query(`UPDATE campaigns SET status = 'paused' WHERE id = $1`, [id]);
    expect((await api.post(`${path}/recipients/resend`, { accept_duplicates: true })).body.recipients).toBe(1);
    const client = await system.pool.connect();
    await recordReports(client, [{ messageId: one, kind: 'delivered', at: new Date() }]);
    client.release();
    expect((await api.post(`${path}/resume`)).status).toBe(200);
    expect((await untilStatus(api, path, 'completed')).progress.accepted).toBe(4);
    expect(taken('report').map(([, count]) => count)).toEqual(Array(4).fill(1));
    await expectCountersToAgree(api, path);
  });
});

test('a campaign whose workflow was terminated resumes in a new one and sends nothing twice', async () => {
  const { api, id, path } = await campaignTo('lost', 120, { rate_per_second: 10 });
  await api.post(`${path}/send`);
  await eventually(async () => expect((await read(api, path)).progress.accepted).toBeGreaterThan(5));
  await temporal.workflow.getHandle(id).terminate('by the test');
  const next = await eventually(async () => temporal.workflow.getHandle(`${id}-2`).describe(), 40_000);
  expect(next.type).toBe('sendCampaign');
  await api.patch(path, { rate_per_second: 1000 });
  const campaign = await untilStatus(api, path, 'completed');
  expect(campaign.progress.accepted + campaign.progress.unknown).toBe(120);
  expect(taken('lost').every(([, count]) => count === 1)).toBe(true);
  expect(await startedAndCompleted(api)).toEqual([1, 1]);
  await expectCountersToAgree(api, path);
}, 120_000);

test('counters agree with the rows throughout: rejections, retries, unknown outcomes, bounces, complaints and unsubscribes', async () => {
  const { api, path } = await partlyRefused('life', 40, 6);
  const accepted = (await recipients(api, path, 'accepted')).map(({ id }) => id);
  const unknown = await makeUnknown(path, 5);
  const [bounced = '', complained = '', delivered = ''] = accepted.filter((id) => !unknown.includes(id));
  const report = async (...reports: { messageId: string; kind: 'delivered' | 'bounced' | 'complained' }[]) => {
    const client = await system.pool.connect();
    await recordReports(
      client,
      reports.map((each) => ({ ...each, at: new Date() })),
    );
    client.release();
  };
  await report(
    { messageId: bounced, kind: 'bounced' },
    { messageId: complained, kind: 'delivered' },
    { messageId: complained, kind: 'complained' },
    { messageId: delivered, kind: 'delivered' },
    { messageId: unknown[0] ?? '', kind: 'delivered' },
  );
  const [, link = ''] =
    /^List-Unsubscribe: <([^>]+)>/m.exec(sink.mails.find(({ to }) => to === 'life30@mail.test')?.raw ?? '') ?? [];
  expect((await fetch(system.url + new URL(link).pathname, { method: 'POST' })).status).toBe(200);
  await expectCountersToAgree(api, path);
  const resolve = (outcome: string, id = '') =>
    api.post(`${path}/recipients/resolve`, { outcome, recipient_ids: [id] });
  await Promise.all([
    api.post(`${path}/recipients/retry`),
    resolve('accepted', unknown[1]),
    resolve('failed', unknown[2]),
    report({ messageId: delivered, kind: 'delivered' }, { messageId: unknown[3] ?? '', kind: 'bounced' }),
  ]);
  await untilStatus(api, path, 'completed');
  await api.post(`${path}/recipients/resend`, { accept_duplicates: true });
  await untilStatus(api, path, 'completed');
  await expectCountersToAgree(api, path);
  const { recipientCount, progress } = await read(api, path);
  expect(Object.values(progress as Record<string, number>).reduce((sum, count) => sum + count, 0)).toBe(recipientCount);
  expect(progress.unknown).toBe(0);
  expect(await startedAndCompleted(api)).toEqual([1, 1]);
});
