import { newId, pool } from '@postroom/platform';
import { recoverLost } from '@postroom/platform/durable-work';
import { eventually, mailSystem, type SystemApi, temporalClient } from '@postroom/testkit';
import { afterEach, expect, test } from 'vitest';
import { endQueueDrain, renewDrainLease } from '../src/queue-drains.ts';
import { holdMail } from './hold-mail.ts';
import { MAIL_POLICY, newClaim, settle } from '@postroom/ledger';
import { work } from '../src/durable-work.ts';

const { sink, system } = await mailSystem();
const client = await temporalClient();

afterEach(() => sink.answer(() => undefined));

const email = (to: string) => ({ from: 'hello@example.com', to: [to], subject: 'Hello', text: 'Hello' });

/** Sends `count` emails in batches, to `<name><number>@mail.test`. */
async function sendMany(api: SystemApi, name: string, count: number): Promise<void> {
  for (let page = 0; page < count; page += 100) {
    const size = Math.min(100, count - page);
    const emails = Array.from({ length: size }, (_, index) => email(`${name}${page + index}@mail.test`));
    expect((await api.post('/v1/emails/batch', { emails })).status).toBe(202);
  }
}

async function statesOf({ projectId }: SystemApi): Promise<Record<string, number>> {
  const { rows } = await system.pool.query<{ state: string; count: number }>(
    'SELECT state, count(*)::int AS count FROM messages WHERE project_id = $1 GROUP BY state',
    [projectId],
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

const receivedBy = (name: string) => [...sink.counts()].filter(([to]) => to.startsWith(name)).map(([, count]) => count);

async function workflowsOf({ projectId }: SystemApi): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of client.workflow.list({ query: `projectId = '${projectId}'` })) types.push(type);
  return types;
}

test('emails that arrive too fast for individual workflows share a queue drain, which ends when the queue is empty, and each is sent once', async () => {
  const api = await system.api();
  await sendMany(api, 'burst', 500);
  await eventually(async () => expect(await statesOf(api)).toEqual({ accepted: 500 }), 30_000);
  expect(receivedBy('burst')).toEqual(Array.from({ length: 500 }, () => 1));
  await eventually(async () => {
    expect(await workflowsOf(api)).toEqual(['sendBurst']);
    expect(
      (await system.pool.query('SELECT FROM email_queue_drains WHERE project_id = $1', [api.projectId])).rowCount,
    ).toBe(0);
  }, 30_000);
}, 120_000);

test('an email deferred during a queue drain is sent later by its own workflow, and is queued, not scheduled, until then', async () => {
  const api = await system.api();
  const refused = new Set<string>();
  sink.answer((to) => {
    if (!to.startsWith('later') || refused.has(to) || refused.size === 2) return undefined;
    refused.add(to);
    return { code: 450, message: '4.2.1 Mailbox busy' };
  });
  await sendMany(api, 'later', 50);
  await eventually(async () => expect((await statesOf(api)).accepted).toBe(48), 30_000);
  const [waiting] = refused;
  const { data } = (await api.get(`/v1/emails?to=${waiting}`)).body;
  expect(data[0].status).toBe('queued');
  expect((await api.patch(`/v1/emails/${data[0].id}`, { scheduled_at: '2099-01-01T00:00:00Z' })).status).not.toBe(200);
  await eventually(async () => expect(await statesOf(api)).toEqual({ accepted: 50 }), 60_000);
  await eventually(async () =>
    expect((await workflowsOf(api)).toSorted()).toEqual(['sendBurst', 'sendEmails', 'sendEmails']),
  );
}, 120_000);

test('a queue drain backs off while the server accepts nothing, and loses no email', async () => {
  const api = await system.api();
  let refusals = 0;
  sink.answer((to) => {
    if (!to.startsWith('held')) return undefined;
    refusals++;
    return { code: 421, message: '4.3.2 Closing' };
  });
  await sendMany(api, 'held', 60);
  await eventually(() => expect(refusals).toBeGreaterThan(0));
  expect(await statesOf(api)).not.toHaveProperty('failed');
  sink.answer(() => undefined);
  await eventually(async () => expect(await statesOf(api)).toEqual({ accepted: 60 }), 90_000);
  expect(receivedBy('held').every((count) => count === 1)).toBe(true);
}, 120_000);

test('a mail server that does not reply to an email does not hold up the later ones', async () => {
  const api = await system.api();
  const stuck = Promise.withResolvers<undefined>();
  sink.answer((to) => (to === 'stuck0@mail.test' ? stuck.promise : undefined));
  await sendMany(api, 'stuck', 60);
  const until = performance.now() + MAIL_POLICY.drain.runMs + 3_000;
  let sent = 60;
  for (let round = 0; performance.now() < until; round++) {
    // Its connection may have been given another one.
    await eventually(async () => expect((await statesOf(api)).accepted).toBeGreaterThanOrEqual(sent - 2), 10_000);
    await sendMany(api, `round${round}-`, 10);
    sent += 10;
  }
  expect(await workflowsOf(api)).toEqual(['sendBurst']);
  stuck.resolve(undefined);
  await eventually(async () => expect(await statesOf(api)).toEqual({ accepted: sent }), 30_000);
}, 120_000);

test('after kill -9 of the worker during a queue drain no email is lost or sent twice, and only those in flight are unknown', async () => {
  const api = await system.api();
  sink.answer(() => new Promise((resolve) => setTimeout(() => resolve(undefined), 20)));
  let taken = 0;
  let going = true;
  const clients = Array.from({ length: 5 }, async () => {
    while (going) {
      const reply = await api.post('/v1/emails', email(`kill${taken++}@mail.test`));
      expect(reply.status).toBe(202);
    }
  });
  let inFlight = 0;
  for (const received of [100, 400]) {
    await eventually(() => expect(receivedBy('kill').length).toBeGreaterThan(received), 60_000);
    await system.killWorker();
    inFlight += (await statesOf(api)).claimed ?? 0;
    await system.startWorker();
  }
  going = false;
  await Promise.all(clients);
  const states = await eventually(async () => {
    const now = await statesOf(api);
    expect((now.accepted ?? 0) + (now.unknown ?? 0)).toBe(taken);
    return now;
  }, 90_000);
  expect(receivedBy('kill').filter((count) => count > 1)).toEqual([]);
  expect(states.unknown ?? 0).toBeLessThanOrEqual(inFlight);
  expect(receivedBy('kill').length).toBeGreaterThanOrEqual(states.accepted ?? 0);
}, 180_000);

/** Inserts rows that a drain was assigned minutes ago, in a project whose mail no worker of another test sends. */
async function insertAssigned(
  workflowId: string,
  states: readonly string[],
  claim: string | null = null,
): Promise<string[]> {
  const projectId = newId('prj');
  await pool.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  await holdMail(projectId);
  const ids = states.map(() => newId('eml'));
  await pool.query(
    `INSERT INTO messages (id, project_id, email, subject, state, workflow_id, dispatched_at, not_before, claim)
     SELECT id, $1, id || '@mail.test', 'Hello', state, $2, now() - interval '5 minutes', now(), $5
     FROM unnest($3::text[], $4::message_state[]) AS row(id, state)`,
    [projectId, workflowId, ids, states, claim],
  );
  return ids;
}

const rowsOf = async (ids: string[]) =>
  (await pool.query('SELECT state, workflow_id, dispatched_at FROM messages WHERE id = ANY ($1) ORDER BY id', [ids]))
    .rows;

test('messages of a drain unknown to Temporal are assigned to another workflow', async () => {
  const workflowId = newId('eml').replace('eml_', 'burst_');
  await insertAssigned(workflowId, ['claimed', 'planned']);
  // Workers of other tests sweep too, and each sweep checks only some workflows.
  await eventually(async () => {
    for (const kind of work) await recoverLost(client, kind);
    expect((await client.workflow.getHandle(workflowId).describe()).type).toBe('sendEmails');
  });
});

test('an unknown message whose claim is released after all returns to the dispatcher', async () => {
  const claim = newClaim();
  const ids = await insertAssigned('burst_lost', ['unknown'], claim);
  await pool.query('UPDATE messages SET workflow_id = NULL WHERE id = ANY ($1)', [ids]);
  await settle(claim, [{ id: ids[0] ?? '', state: 'planned', answer: null }]);
  expect(await rowsOf(ids)).toEqual([{ state: 'planned', workflow_id: null, dispatched_at: null }]);
});

test('a project has one queue drain at a time; another takes over once the lease has expired', async () => {
  const projectId = newId('prj');
  await pool.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  expect(await renewDrainLease(projectId, 'burst_a')).toBe(true);
  expect(await renewDrainLease(projectId, 'burst_b')).toBe(false);
  await pool.query(`UPDATE email_queue_drains SET lease_expires_at = now() - interval '1 s' WHERE project_id = $1`, [
    projectId,
  ]);
  expect(await renewDrainLease(projectId, 'burst_b')).toBe(true);
  expect(await renewDrainLease(projectId, 'burst_a')).toBe(false);
  await endQueueDrain(projectId, 'burst_a');
  expect(await renewDrainLease(projectId, 'burst_a')).toBe(false);
});
