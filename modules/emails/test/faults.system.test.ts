import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@postroom/platform';
import {
  type BreakingServer,
  type DatabaseFault,
  SESSION_BREAKS,
  DELAY_MS,
  mailFaults,
  startBreakingServer,
} from '@postroom/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Work } from './faults.worker.ts';

const faults = mailFaults(join(import.meta.dirname, 'faults.worker.ts'));
const { startWorker } = faults;
const ask = (work: Work) => faults.ask(work);

/** Recipients in fault tests. Mail to some is rejected, deferred or suppressed. */
const NAMES = ['ada', 'refused', 'bob', 'later', 'gone', 'eve'];

interface Made {
  projectId: string;
  workflowId: string;
  addresses: string[];
}

/** Queued emails, and the id of a drain to send them; one address was suppressed after they were accepted. */
async function emails(names = NAMES): Promise<Made> {
  const projectId = newId('prj');
  const ids = names.map(() => newId('eml'));
  const workflowId = newId('eml').replace('eml_', 'burst_');
  const addresses = names.map((name) => `${name}.${workflowId}@mail.test`);
  const { db } = faults.worker;
  await db.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await db.query(
    `INSERT INTO domains (id, project_id, domain, verified_for_sending, verification, updated_at)
     VALUES (postroom_id('dom'), $1, 'example.com', true, 'verified', now())`,
    [projectId],
  );
  await db.query(
    `WITH message AS (
       INSERT INTO messages (id, project_id, email, subject, not_before)
       SELECT id, $1, email, 'Receipt', now() FROM unnest($2::text[], $3::text[]) AS m(id, email)
     ), suppression AS (
       INSERT INTO suppressions (id, project_id, email, email_key, reason)
       SELECT postroom_id('sup'), $1, email, email, 'manual' FROM unnest($3::text[]) AS email WHERE email LIKE 'gone%'
     ) INSERT INTO message_contents (message_id, "from", "to", html)
     SELECT id, 'shop@example.com', json_build_array(email), '<p>Thank <a href="https://example.com/you">you</a></p>'
     FROM unnest($2::text[], $3::text[]) AS m(id, email)`,
    [projectId, ids, addresses],
  );
  return { projectId, workflowId, addresses };
}

/** Runs the queue drain to its end. */
const drain = ({ projectId, workflowId }: Made) => ask({ projectId, workflowId });

/** Assigns messages that the drain left or deferred to a workflow, as the dispatcher does, and runs it. */
async function sendRest({ projectId }: Made): Promise<void> {
  const workflowId = newId('eml');
  const { rowCount } = await faults.worker.db.query(
    `UPDATE messages SET workflow_id = $2, dispatched_at = now(), not_before = CASE state WHEN 'planned' THEN now() END
     WHERE project_id = $1 AND state IN ('planned', 'claimed')`,
    [projectId, workflowId],
  );
  if (rowCount !== 0) await ask({ workflowId });
}

/** No drain holds the lease, so the dispatcher handles the project's mail. */
async function expectNoDrain({ projectId }: Made): Promise<void> {
  const { rows } = await faults.worker.db.query('SELECT workflow_id FROM email_queue_drains WHERE project_id = $1', [
    projectId,
  ]);
  expect(rows).toEqual([]);
}

/** Compares the mail that each address received (`got`) with the ledger and events of a project. */
async function expectLedgerConsistent(
  { projectId, addresses }: { projectId: string; addresses: string[] },
  maxUnknown: number,
  got: Map<string, number>,
): Promise<void> {
  const { rows } = await faults.worker.db.query<{ email: string; state: string }>(
    'SELECT email, state::text FROM messages WHERE project_id = $1',
    [projectId],
  );
  const inState = (state: string) => rows.filter((row) => row.state === state).length;
  expect(addresses.filter((address) => (got.get(address) ?? 0) > 1)).toEqual([]);
  for (const { email, state } of rows) {
    const end = email.startsWith('refused') ? 'failed' : email.startsWith('gone') ? 'suppressed' : 'unknown';
    expect(got.has(email) ? ['accepted', 'unknown'] : [end, 'unknown'], email).toContain(state);
  }
  expect(inState('unknown')).toBeLessThanOrEqual(maxUnknown);
  const { rows: events } = await faults.worker.db.query<{ type: string; count: number }>(
    'SELECT type, count(*)::int AS count FROM events WHERE project_id = $1 GROUP BY type ORDER BY type',
    [projectId],
  );
  const expected = [
    { type: 'email.failed', count: inState('failed') },
    { type: 'email.sent', count: inState('accepted') },
  ];
  expect(events).toEqual(expected.filter(({ count }) => count > 0));
}

const BREAKS: [DatabaseFault, string][] = [
  ['request-lost', 'before the server receives it'],
  ['reply-lost', 'after the server executes it, before its reply'],
  ['delayed', 'and the server executes it later'],
];

test.each(BREAKS)(
  'when the connection to the database breaks at any statement of a batch (%s: %s), no email is sent twice, none is lost, and each event is recorded once',
  async (fault) => {
    await sendRest(await emails()); // opens connections and prepares statements
    const statements: string[] = [];
    faults.proxy.watch(({ text }) => void statements.push(text.replace(/\s+/g, ' ').slice(0, 100)));
    await sendRest(await emails());
    expect(statements.length).toBeGreaterThan(8);
    for (const at of statements.keys()) {
      const made = await emails();
      faults.proxy.watch(({ number }) => (number === at + 1 ? fault : undefined));
      await sendRest(made);
      faults.proxy.watch(() => undefined);
      try {
        await expectLedgerConsistent(made, fault === 'delayed' ? NAMES.length : 0, faults.sink.counts());
      } catch (error) {
        throw new Error(`statement ${at + 1}, ${statements[at]}: ${(error as Error).message}`, { cause: error });
      }
    }
  },
  120_000,
);

test.each(BREAKS)(
  'when the connection to the database breaks at any statement of a queue drain (%s: %s), no email is sent twice, none is lost, and each event is recorded once',
  async (fault) => {
    await drain(await emails()); // opens connections and prepares statements
    // The number of polls varies with timing, so the loop ends at the first drain without a statement of that number.
    let at = 0;
    for (let isBroken = true; isBroken;) {
      at++;
      isBroken = false;
      const made = await emails();
      let broken = '';
      faults.proxy.watch(({ number, text }) => {
        if (number !== at) return undefined;
        isBroken = true;
        broken = text.replace(/\s+/g, ' ').slice(0, 100);
        return fault;
      });
      await drain(made);
      faults.proxy.watch(() => undefined);
      try {
        // A late statement may renew the lease, which then has to expire.
        if (fault === 'delayed') await sleep(DELAY_MS);
        else await expectNoDrain(made);
        await sendRest(made);
        // Only a claim executed after its process has moved on may leave messages unknown.
        await expectLedgerConsistent(made, fault === 'delayed' ? NAMES.length : 0, faults.sink.counts());
      } catch (error) {
        throw new Error(`statement ${at}, ${broken}: ${(error as Error).message}`, { cause: error });
      }
    }
    expect(at).toBeGreaterThan(15);
  },
  300_000,
);

test('a drain whose LISTEN fails at first still ends, and its lease stays deleted', async () => {
  const made = await emails();
  const renewMs = 50;
  const isBroken = faults.breakOnce(/^LISTEN/, 'request-lost');
  await ask({ projectId: made.projectId, workflowId: made.workflowId, renewMs });
  expect(isBroken()).toBe(true);
  await sleep(4 * renewMs);
  await expectNoDrain(made);
});

const STEPS: [string, RegExp, { unknown: number }][] = [
  ['the drain renews its lease', /^\s*INSERT INTO email_queue_drains/, { unknown: 0 }],
  ['emails are claimed', /SET state = 'claimed'/, { unknown: NAMES.length }],
  ['link targets are stored', /INSERT INTO tracked_links/, { unknown: NAMES.length }],
  ['outcomes are recorded', /^\s*WITH outcome AS/, { unknown: NAMES.length }],
  ['unsent emails are requeued', /^\s*WITH back AS/, { unknown: NAMES.length }],
  ['the drain ends', /DELETE FROM email_queue_drains/, { unknown: 0 }],
];

for (const [fault, when] of [
  ['blocked', 'before'],
  ['reply-blocked', 'after'],
] as const) {
  test.each(STEPS)(
    `kill -9 ${when} %s: no email is sent twice, none is lost, and another process continues`,
    async (_step, text, { unknown }) => {
      const made = await emails();
      const work = { projectId: made.projectId, workflowId: made.workflowId };
      expect(await faults.killAt(text, fault, work)).toMatch(text);
      await drain(made);
      await expectNoDrain(made);
      await sendRest(made);
      await expectLedgerConsistent(made, unknown, faults.sink.counts());
    },
    60_000,
  );
}

describe('with a mail server that breaks', () => {
  let server: BreakingServer;
  beforeAll(async () => {
    server = await startBreakingServer();
    await faults.worker.kill();
    await startWorker(server.url);
  });
  afterAll(() => server.close());

  // Without PIPELINING the same pipeline sends a campaign, in modules/campaigns/test/faults.system.test.ts.
  test.each(SESSION_BREAKS)(
    'a mail server that breaks at %s in a queue drain: no email is sent twice, and only those whose final dot may have arrived are unknown',
    async (at) => {
      server.breakAt({ at, pipelining: true, to: 'bob' });
      const made = await emails(['ada', 'bob', 'eve', 'kim', 'lea', 'mia']);
      await drain(made);
      await sendRest(made);
      expect(server.isBroken()).toBe(true);
      // A short body and its final dot are one write.
      const unknown = at === 'body' || at === 'dot' || at === 'half a reply' ? 1 : 0;
      await expectLedgerConsistent(made, unknown, server.counts());
    },
    60_000,
  );
});
