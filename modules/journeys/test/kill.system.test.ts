import {
  eventually,
  type Receiver,
  type SmtpSink,
  startReceiver,
  startSmtpSink,
  startSystem,
  type System,
} from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const CONTACTS = 2_000;

let sink: SmtpSink;
let receiver: Receiver;
let system: System;

beforeAll(async () => {
  sink = await startSmtpSink();
  receiver = await startReceiver();
  system = await startSystem({ smtpUrl: sink.url });
  await system.startWorker();
}, 120_000);

afterAll(async () => {
  await system.stop();
  await sink.close();
  await receiver.close();
});

test('after kill -9 of the worker at any moment every contact has gone through each step once and got each message once', async () => {
  const api = await system.api();
  await system.pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
     SELECT postroom_id('ctc'), $1, 'kill' || i || '@mail.test', 'kill' || i || '@mail.test', '', 'api', now()
     FROM generate_series(1, ${CONTACTS}) i`,
    [api.projectId],
  );
  const [first] = (await system.pool.query<{ id: string }>('SELECT id FROM contacts LIMIT 1')).rows;
  const group = (await api.post('/v1/groups', { name: 'Reached', contact_ids: [first?.id] })).body.data.id;
  const templates = await Promise.all(
    ['one', 'two'].map(async (subject) => {
      const { id } = (await api.post('/v1/templates', { name: subject, subject, body: '<p>Hello</p>' })).body.data;
      await api.post(`/v1/templates/${id}/publish`);
      return id as string;
    }),
  );
  const from = 'news@example.com';
  const { id: journey } = (
    await api.post('/v1/journeys', {
      name: 'Kill',
      definition: {
        entry: { type: 'event', event: 'started' },
        steps: [
          { id: 'one', type: 'send', templateId: templates[0], from, next: 'half' },
          {
            id: 'half',
            type: 'split',
            branches: [
              { percent: 50, next: 'join' },
              { percent: 50, next: 'two' },
            ],
          },
          { id: 'join', type: 'join_group', groupId: group, next: 'call' },
          { id: 'call', type: 'webhook', url: receiver.url, next: 'two' },
          { id: 'two', type: 'send', templateId: templates[1], from },
        ],
      },
    })
  ).body.data;
  expect((await api.post(`/v1/journeys/${journey}/publish`, {})).status).toBe(200);
  const { rows: contacts } = await system.pool.query<{ id: string }>('SELECT id FROM contacts ORDER BY id');
  for (let at = 0; at < CONTACTS; at += 1000) {
    const events = contacts.slice(at, at + 1000).map(({ id }) => ({ name: 'started', contact_id: id }));
    expect((await api.post('/v1/events', { events })).status).toBe(200);
  }
  const stepsDone = async () => {
    const { rows } = await system.pool.query<{ count: number }>('SELECT count(*)::int AS count FROM enrollment_steps');
    return rows[0]?.count ?? 0;
  };
  for (const share of [0.1, 0.5, 0.8]) {
    await eventually(async () => expect(await stepsDone()).toBeGreaterThan(3 * CONTACTS * share), 60_000);
    await system.killWorker();
    await system.startWorker();
  }
  await eventually(async () => {
    const { rows } = await system.pool.query(
      `SELECT count(*)::int AS runs, count(*) FILTER (WHERE status = 'completed')::int AS completed FROM enrollments`,
    );
    expect(rows).toEqual([{ runs: CONTACTS, completed: CONTACTS }]);
  }, 120_000);
  const { rows: steps } = await system.pool.query(
    `SELECT max(times)::int AS times, count(*) FILTER (WHERE step_id IN ('one', 'half', 'two'))::int AS steps FROM (
       SELECT enrollment_id, step_id, count(*) AS times FROM enrollment_steps GROUP BY 1, 2) AS by_step`,
  );
  expect(steps).toEqual([{ times: 1, steps: 3 * CONTACTS }]);
  const { rows: passages } = await system.pool.query(
    `SELECT step_id, outcome, to_step_id, sum(run_count)::int AS count FROM journey_passages
     GROUP BY 1, 2, 3 ORDER BY 1 NULLS FIRST, 2, 3`,
  );
  const { rows: recorded } = await system.pool.query(
    `SELECT NULL AS step_id, NULL AS outcome, 'one' AS to_step_id, count(*)::int AS count FROM enrollments
     UNION ALL
     SELECT step_id, outcome, next, count(*)::int FROM (
       SELECT step_id, outcome, lead(step_id) OVER (PARTITION BY enrollment_id ORDER BY visit) AS next FROM enrollment_steps
     ) AS ways GROUP BY 1, 2, 3 ORDER BY 1 NULLS FIRST, 2, 3`,
  );
  expect(passages).toEqual(recorded);
  const { rows: calls } = await system.pool.query<{ id: string }>(
    `SELECT enrollment_id || '.' || visit AS id FROM enrollment_steps WHERE step_id = 'call' AND outcome = 'called' ORDER BY 1`,
  );
  expect(calls.length).toBeGreaterThan(CONTACTS / 3);
  expect([...new Set(receiver.received.map(({ event }) => event.id))].sort()).toEqual(calls.map(({ id }) => id).sort());
  // Only those that were on the wire when a worker was killed are repeated.
  expect(receiver.received.length - calls.length).toBeLessThanOrEqual(30);
  const { rows: messages } = await system.pool.query(
    `SELECT count(*)::int AS rows, count(DISTINCT (contact_id, subject))::int AS distinct FROM messages`,
  );
  expect(messages).toEqual([{ rows: 2 * CONTACTS, distinct: 2 * CONTACTS }]);
  await eventually(async () => {
    const { rows } = await system.pool.query(
      `SELECT state::text FROM messages WHERE state IN ('planned', 'claimed') LIMIT 1`,
    );
    expect(rows).toEqual([]);
  }, 120_000);
  const received = [...sink.counts().values()];
  expect(Math.max(...received)).toBeLessThanOrEqual(2);
  const { rows: unknown } = await system.pool.query(
    `SELECT count(*)::int AS count FROM messages WHERE state = 'unknown'`,
  );
  expect(received.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(2 * CONTACTS - unknown[0].count);
}, 400_000);
