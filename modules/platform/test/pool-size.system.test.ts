import {
  type Receiver,
  type SmtpSink,
  startReceiver,
  startSmtpSink,
  startSystem,
  type System,
  eventually,
} from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The smallest that is allowed. */
const DATABASE_POOL = 5;
const RECIPIENTS = 300;
const REQUESTS = 60;

let sink: SmtpSink;
let receiver: Receiver;
let system: System;

beforeAll(async () => {
  [sink, receiver] = await Promise.all([startSmtpSink(), startReceiver()]);
  system = await startSystem({ smtpUrl: sink.url, env: { DATABASE_POOL: String(DATABASE_POOL) } });
  await system.startWorker();
}, 120_000);

afterAll(async () => {
  await system.stop();
  await Promise.all([sink.close(), receiver.close()]);
});

test('under load no program has more connections than DATABASE_POOL, and the smallest pool gets everything done', async () => {
  const api = await system.api();
  await api.post('/v1/webhooks', { url: receiver.url, events: ['email.sent', 'contact.created'] });
  const contacts = Array.from({ length: RECIPIENTS }, (_, index) => ({ email: `reader${index}@mail.test` }));
  await api.post('/v1/contacts/batch', { contacts });
  const group = await api.post('/v1/groups', { name: 'All', emails: contacts.map(({ email }) => email) });
  const campaign = await api.post('/v1/campaigns', {
    name: 'Small pool',
    subject: 'News',
    from_email: 'news@example.com',
    html: '<p>Hello</p>',
    group_ids: [group.body.data.id],
  });
  const path = `/v1/campaigns/${campaign.body.data.id}`;
  const most = new Map<string, number>();
  const look = setInterval(() => {
    void system.pool
      .query<{ name: string; connections: number }>(
        `SELECT application_name AS name, count(*)::int AS connections FROM pg_stat_activity
           WHERE datname = current_database() AND application_name LIKE 'postroom%' GROUP BY 1`,
      )
      .then(({ rows }) =>
        rows.forEach(({ name, connections }) => most.set(name, Math.max(connections, most.get(name) ?? 0))),
      );
  }, 25);
  expect((await api.post(`${path}/send`)).status).toBe(202);
  const replies = await Promise.all(
    Array.from({ length: REQUESTS }, (_, index) =>
      api.post('/v1/emails', {
        from: 'news@example.com',
        to: [`one${index}@mail.test`],
        subject: 'Receipt',
        html: '<p>Thanks</p>',
      }),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 202));
  await eventually(async () => {
    expect((await api.get(path)).body.data.status).toBe('completed');
    expect(sink.mails).toHaveLength(RECIPIENTS + REQUESTS);
  }, 90_000);
  clearInterval(look);
  expect([...most.keys()].sort()).toEqual(['postroom-gateway', 'postroom-worker']);
  expect(Math.max(...most.values())).toBeLessThanOrEqual(DATABASE_POOL);
  expect(most.get('postroom-worker')).toBeGreaterThan(2); // both pools and LISTEN are counted
}, 120_000);
