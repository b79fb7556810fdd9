import { join } from 'node:path';
import {
  eventually,
  type Receiver,
  type SmtpSink,
  startReceiver,
  startSmtpSink,
  startSystem,
  type System,
} from '@postroom/testkit';
import { timeOfId } from '@postroom/platform';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const HOUR_MS = 3_600_000;
const SHIFTED = `--import=${join(import.meta.dirname, 'shifted-clock.mjs')}`;

describe.each([
  ['ahead', 'behind', HOUR_MS],
  ['behind', 'ahead', -HOUR_MS],
])("the gateway's clock is an hour %s of PostgreSQL's, the worker's an hour %s", (_gateway, _worker, aheadMs) => {
  let sink: SmtpSink;
  let receiver: Receiver;
  let system: System;

  beforeAll(async () => {
    [sink, receiver] = await Promise.all([startSmtpSink(), startReceiver()]);
    system = await startSystem({
      smtpUrl: sink.url,
      env: { NODE_OPTIONS: SHIFTED, CLOCK_AHEAD_MS: String(aheadMs) },
    });
    await system.startWorker({ CLOCK_AHEAD_MS: String(-aheadMs) });
  }, 120_000);

  afterAll(async () => {
    await system.stop();
    await Promise.all([sink.close(), receiver.close()]);
  });

  /** Within a minute of now, which is what filters by time allow between an id and the time of its row. */
  const expectNow = (at: Date | string | number) =>
    expect(Math.abs(new Date(at).getTime() - Date.now())).toBeLessThan(60_000);

  test('mail, webhooks and events have the right time, and are found by it', { timeout: 90_000 }, async () => {
    const api = await system.api();
    const hook = await api.post('/v1/webhooks', { url: receiver.url, events: ['email.sent'] });
    expect(hook.status).toBe(201);
    const since = new Date(Date.now() - 600_000).toISOString();

    const contact = await api.post('/v1/contacts', { email: 'ada@example.net' });
    expectNow(timeOfId(contact.body.data.id));
    for (const [filter, found] of [
      [`created_after=${since}`, 1],
      [`created_before=${since}`, 0],
    ] as const)
      expect((await api.get(`/v1/contacts?${filter}`)).body.data).toHaveLength(found);

    const event = { name: 'order placed', email: 'ada@example.net', occurred_at: new Date().toISOString() };
    expect((await api.post('/v1/events', event)).status).toBe(200);

    const email = { from: 'post@example.com', subject: 'Receipt', text: 'Thank you.' };
    const scheduledAt = Date.now() + 4_000;
    const later = { ...email, to: 'later@example.net', scheduled_at: new Date(scheduledAt).toISOString() };
    expect((await api.post('/v1/emails', later)).body.data).toMatchObject({ status: 'scheduled' });
    expect((await api.post('/v1/emails', { ...email, to: 'now@example.net' })).body.data).toMatchObject({
      status: 'queued',
    });
    const groups = await api.post('/v1/groups', { name: 'All', emails: ['ada@example.net'] });
    const campaign = await api.post('/v1/campaigns', {
      name: 'News',
      subject: 'News',
      from_email: 'news@example.com',
      html: '<p>Hello</p>',
      group_ids: [groups.body.data.id],
    });
    const path = `/v1/campaigns/${campaign.body.data.id}`;
    const soon = { scheduled_at: new Date(Date.now() + 3_000).toISOString() };
    expect((await api.post(`${path}/schedule`, soon)).body.data).toMatchObject({ status: 'scheduled' });
    await eventually(async () => {
      expect(sink.mails.map(({ to }) => to).toSorted()).toEqual([
        'ada@example.net',
        'later@example.net',
        'now@example.net',
      ]);
      expect((await api.get(path)).body.data).toMatchObject({ status: 'completed' });
      expect(receiver.received).toHaveLength(3);
    }, 60_000);
    for (const { raw } of sink.mails) expectNow(/^Date: (.*)\r$/m.exec(raw)?.[1] ?? '');
    expect(sink.mails.find(({ to }) => to === 'later@example.net')?.at).toBeGreaterThan(scheduledAt - 100);
    for (const { headers, event: sent } of receiver.received) {
      expectNow(Number(headers['x-webhook-timestamp']) * 1000);
      expectNow(timeOfId(sent.id));
    }
    const { rows: attempts } = await system.pool.query<{ started_at: Date }>('SELECT started_at FROM attempts');
    for (const { started_at: startedAt } of attempts) expectNow(startedAt);

    // Both read a range of ids that encloses the period.
    const query = `{ statistics(since: "${since}", step: hour) { sent } }`;
    const statistics = (await api.post('/graphql', { query })).body.data.statistics as { sent: number }[];
    expect(statistics.reduce((sum, { sent }) => sum + sent, 0)).toBe(3);
  });
});
