import { recordReports, type Report } from '@postroom/bounces';
import { eventually, mailSystem, type SystemApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { campaignKit } from './testing.ts';

const { sink, system } = await mailSystem((to) =>
  to.startsWith('refuse') ? { code: 550, message: '5.7.1 Refused by policy' } : undefined,
);

const { campaignTo, read, untilStatus, eventsOf, expectCountersToAgree, taken, recipients } = campaignKit(() => ({
  system,
  sink,
}));

/** Sets a project's policy; omitted fields get their defaults. */
async function setPolicy(api: SystemApi, policy: Record<string, number>): Promise<void> {
  const names = Object.keys(policy);
  await system.pool.query(
    `INSERT INTO sending_policies (project_id, ${names.join(', ')}) VALUES ($1, ${names.map((_, index) => `$${index + 2}`).join(', ')})`,
    [api.projectId, ...Object.values(policy)],
  );
}

/** Reports an event for `count` accepted messages without an earlier report, as a provider does. */
async function report(api: SystemApi, path: string, kind: Report['kind'], count: number): Promise<void> {
  const all = await recipients(api, path, 'accepted');
  const fresh = (all as { id: string; bouncedAt?: string | null; complainedAt?: string | null }[]).filter(
    (recipient) => recipient.bouncedAt === null && recipient.complainedAt === null,
  );
  const client = await system.pool.connect();
  const detail = kind === 'bounced' ? { detail: '552 5.2.2 Mailbox full' } : {};
  await recordReports(
    client,
    fresh.slice(0, count).map(({ id }) => ({ messageId: id, kind, at: new Date(), ...detail })),
  );
  client.release();
}

/** A campaign with at least that many accepted messages and many more planned. */
async function underWay(word: string, accepted: number, policy: Record<string, number>) {
  const made = await campaignTo(word, 400, { rate_per_second: 40 });
  await setPolicy(made.api, policy);
  await made.api.post(`${made.path}/send`);
  await eventually(async () =>
    expect((await read(made.api, made.path)).progress.accepted).toBeGreaterThanOrEqual(accepted),
  );
  return made;
}

test('too many bounces pause a campaign with a readable reason, and campaign.paused is emitted once', async () => {
  const { api, id, path } = await underWay('bounce', 60, { bounce_min_sent: 50 });
  await report(api, path, 'bounced', 25);
  const paused = await untilStatus(api, path, 'paused');
  expect(paused.pauseReason).toMatch(/^\d+ of \d+ messages bounced or were rejected \([\d.]+%; the limit is 5%\)\.$/);
  expect(paused).toMatchObject({ blocksSender: true });
  const before = taken('bounce').length;
  expect(before).toBeLessThan(400);
  expect(await eventsOf(api, 'campaign.paused')).toEqual([
    { campaign_id: id, name: 'bounce', reason: paused.pauseReason },
  ]);
});

test('after a user resumes a campaign, rates are counted from zero, and another pause emits campaign.paused again', async () => {
  const { api, path } = await underWay('resume', 60, { bounce_min_sent: 50 });
  await report(api, path, 'bounced', 25);
  await untilStatus(api, path, 'paused');
  expect((await api.post(`${path}/send`)).status).toBe(409);
  expect((await api.post(`${path}/resume`)).body.data).toMatchObject({
    status: 'sending',
    pauseReason: null,
    blocksSender: false,
  });
  const atResume = (await read(api, path)).progress.accepted;
  await eventually(async () => expect((await read(api, path)).progress.accepted).toBeGreaterThan(atResume + 60));
  await report(api, path, 'bounced', 40);
  await untilStatus(api, path, 'paused');
  expect(await eventsOf(api, 'campaign.paused')).toHaveLength(2);
  await api.post(`${path}/resume`);
  expect((await untilStatus(api, path, 'completed')).progress.accepted).toBe(400);
  expect(taken('resume').every(([, count]) => count === 1)).toBe(true);
  await expectCountersToAgree(api, path);
}, 90_000);

test('while a sender is blocked by auto-pause, other campaigns from its domain are 403 forbidden until a user resumes or cancels', async () => {
  const { api, path, another } = await underWay('block', 60, { complaint_min_sent: 50 });
  const next = await another({ name: 'Next' });
  await report(api, path, 'complained', 1);
  const paused = await untilStatus(api, path, 'paused');
  expect(paused.pauseReason).toMatch(/^1 of \d+ messages were marked as spam/);
  for (const command of ['send', 'schedule']) {
    const body = command === 'send' ? undefined : { scheduled_at: new Date(Date.now() + 60_000).toISOString() };
    const reply = await api.post(`${next.path}/${command}`, body);
    expect([reply.status, reply.body.error.code]).toEqual([403, 'forbidden']);
    expect(reply.body.error.message).toContain('were marked as spam');
  }
  const { problems } = (await api.post(`${next.path}/preflight`)).body.data;
  expect(problems).toMatchObject([{ field: 'from_email', message: expect.stringContaining('marked as spam') }]);
  await api.post(`${path}/cancel`);
  expect((await api.post(`${next.path}/send`)).status).toBe(202);
});

test('bounces and complaints reported after a campaign completes block its sender until a user acknowledges them', async () => {
  const { api, id, path, another } = await campaignTo('after', 100);
  await setPolicy(api, { complaint_min_sent: 50 });
  const next = await another({ name: 'Next' });
  const elsewhere = await another({ name: 'Elsewhere', from_email: 'news@other.example' });
  await system.pool.query(
    `INSERT INTO domains (id, project_id, domain, verified_for_sending, verification, dkim, mail_from, dmarc, updated_at)
     VALUES (postroom_id('dom'), $1, 'other.example', true, 'verified', 'verified', 'verified', 'verified', now())`,
    [api.projectId],
  );
  const scheduled = await another({ name: 'Scheduled' });
  await api.post(`${path}/send`);
  await untilStatus(api, path, 'completed');
  const soon = new Date(Date.now() + 15_000).toISOString();
  expect((await api.post(`${scheduled.path}/schedule`, { scheduled_at: soon })).status).toBe(200);
  await report(api, path, 'bounced', 4);
  expect((await api.post(`${path}/acknowledge`)).status).toBe(409);
  await report(api, path, 'bounced', 1);
  const blocking = await eventually(async () => {
    const campaign = await read(api, path);
    expect(campaign.blocksSender).toBe(true);
    return campaign;
  });
  expect(blocking).toMatchObject({
    status: 'completed',
    pauseReason: '5 of 100 messages bounced or were rejected (5%; the limit is 5%).',
  });
  expect(await eventsOf(api, 'campaign.paused')).toEqual([]);
  const refusal = await api.post(`${next.path}/send`);
  expect([refusal.status, refusal.body.error.code]).toEqual([403, 'forbidden']);
  expect(refusal.body.error.message).toBe(
    `After the campaign "after" from example.com was completed: ${blocking.pauseReason} Acknowledge it first.`,
  );
  expect((await api.post(`${path}/recipients/retry`)).status).toBe(403);
  expect((await api.post(`${elsewhere.path}/send`)).status).toBe(202);
  const paused = await untilStatus(api, scheduled.path, 'paused');
  expect(paused.pauseReason).toContain('5 of 100 messages bounced');
  expect((await api.post(`${path}/acknowledge`)).body.data).toMatchObject({
    id,
    status: 'completed',
    blocksSender: false,
    pauseReason: null,
  });
  expect((await api.post(`${scheduled.path}/resume`)).status).toBe(200);
  expect((await api.post(`${next.path}/send`)).status).toBe(202);
  await untilStatus(api, next.path, 'completed');
  // Acknowledged reports no longer count; new ones do.
  await report(api, next.path, 'complained', 1);
  await eventually(async () => expect((await read(api, next.path)).pauseReason).toContain('marked as spam'));
  expect((await read(api, path)).blocksSender).toBe(false);
}, 90_000);

test('limits do not apply before the minimum sample has been sent, whatever the outcomes', async () => {
  const { api, path } = await underWay('few', 60, { bounce_min_sent: 100_000, complaint_min_sent: 100_000 });
  await report(api, path, 'bounced', 30);
  await report(api, path, 'complained', 20);
  expect((await untilStatus(api, path, 'completed')).progress.accepted).toBe(400);
  expect(await eventsOf(api, 'campaign.paused')).toEqual([]);
});

test('consecutive rejections pause a campaign long before every recipient has been tried', async () => {
  const { api, path } = await campaignTo('refuse', 400, { rate_per_second: 100 });
  await setPolicy(api, { refusals_in_row: 10 });
  await api.post(`${path}/send`);
  const { pauseReason } = await untilStatus(api, path, 'paused');
  expect(pauseReason).toMatch(/^Mail servers rejected 10 messages in a row\. The last reply was: .*5\.7\.1/);
  const { progress } = await eventually(async () => {
    const now = await read(api, path);
    expect(now.progress.claimed).toBe(0);
    return now;
  });
  expect(progress.failed).toBeGreaterThanOrEqual(10);
  expect(progress.failed).toBeLessThan(200);
  expect(await eventsOf(api, 'campaign.paused')).toHaveLength(1);
  await expectCountersToAgree(api, path);
});

test("a project's campaigns share its rate", async () => {
  const { api, path, another } = await campaignTo('share', 60);
  await setPolicy(api, { rate_per_second: 20 });
  const other = await another();
  await Promise.all([path, other.path].map((each) => api.post(`${each}/send`)));
  await Promise.all([path, other.path].map((each) => untilStatus(api, each, 'completed')));
  const times = sink.mails.filter(({ to }) => to.startsWith('share')).map(({ at }) => at);
  expect(times).toHaveLength(120);
  expect(((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000).toBeGreaterThan(4.5);
});
