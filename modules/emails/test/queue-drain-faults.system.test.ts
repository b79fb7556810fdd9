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
import type { Work } from './queue-drain-faults.worker.ts';
import { expectLedgerConsistent, NAMES } from './fault-kit.ts';

const faults = mailFaults(join(import.meta.dirname, 'queue-drain-faults.worker.ts'));
const { startWorker } = faults;
const ask = (work: Work) => faults.ask(work);

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

test.each<[DatabaseFault, string]>([
  ['request-lost', 'before the server receives it'],
  ['reply-lost', 'after the server executes it, before its reply'],
  ['delayed', 'and the server executes it later'],
])(
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
        await expectLedgerConsistent(faults.worker, made, fault === 'delayed' ? NAMES.length : 0, faults.sink.counts());
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
      await expectLedgerConsistent(faults.worker, made, unknown, faults.sink.counts());
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

  for (const pipelining of [true, false]) {
    test.each(SESSION_BREAKS)(
      `a mail server ${pipelining ? 'with' : 'without'} PIPELINING that breaks at %s in a queue drain: no email is sent twice, and only those whose final dot may have arrived are unknown`,
      async (at) => {
        server.breakAt({ at, pipelining, to: 'bob' });
        const made = await emails(['ada', 'bob', 'eve', 'kim', 'lea', 'mia']);
        await drain(made);
        await sendRest(made);
        expect(server.isBroken()).toBe(true);
        // A short body and its final dot are one write.
        const unknown = at === 'body' || at === 'dot' || at === 'half a reply' ? 1 : 0;
        await expectLedgerConsistent(faults.worker, made, unknown, server.counts());
      },
      60_000,
    );
  }
});
