import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@postroom/platform';
import { type DatabaseFault, DIALOGUE_BREAKS, LATE_MS, mailFaults, startBreakingServer } from '@postroom/testkit';
import { expect, test } from 'vitest';
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

/** Emails that wait, and the burst that is to take them; one address was suppressed after they were taken. */
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

/** The burst from its first turn to its end. */
const burst = ({ projectId, workflowId }: Made) => ask({ projectId, workflowId });

/** As the relay and its sweep do: what the burst left behind, and what a server put off, gets a workflow of its own. */
async function sendRest({ projectId }: Made): Promise<void> {
  const workflowId = newId('eml');
  const { rowCount } = await faults.worker.db.query(
    `UPDATE messages SET workflow_id = $2, dispatched_at = now(), not_before = CASE state WHEN 'planned' THEN now() END
     WHERE project_id = $1 AND state IN ('planned', 'claimed')`,
    [projectId, workflowId],
  );
  if (rowCount !== 0) await ask({ workflowId });
}

/** No burst is at work any more, so that the relay decides what becomes of the project's mail. */
async function expectNoBurst({ projectId }: Made): Promise<void> {
  const { rows } = await faults.worker.db.query('SELECT workflow_id FROM email_queue_drains WHERE project_id = $1', [
    projectId,
  ]);
  expect(rows).toEqual([]);
}

test.each<[DatabaseFault, string]>([
  ['lost', 'before the server has it'],
  ['unheard', 'after the server has done it, before its answer'],
  ['late', 'and the server does it later'],
])(
  'when the connection to the database breaks at any statement of a burst (%s: %s), no email goes out twice, none is lost, and each event is recorded once',
  async (fault) => {
    await burst(await emails()); // connections are open, statements are prepared
    // How often it looks for mail depends on the time it takes, so the walk ends with a burst that had no such statement.
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
      await burst(made);
      faults.proxy.watch(() => undefined);
      try {
        // What the server does late may say that a burst is at work, until its lease has run out.
        if (fault === 'late') await sleep(LATE_MS);
        else await expectNoBurst(made);
        await sendRest(made);
        // Only a claim that the server makes after its program has gone on is in nobody's hands.
        await expectLedgerConsistent(faults.worker, made, fault === 'late' ? NAMES.length : 0, faults.sink.counts());
      } catch (error) {
        throw new Error(`statement ${at}, ${broken}: ${(error as Error).message}`, { cause: error });
      }
    }
    expect(at).toBeGreaterThan(15);
  },
  300_000,
);

test('a burst that can not hear of new mail at first says in the end that it is over, and goes on saying so', async () => {
  const made = await emails();
  const beatMs = 50;
  const isBroken = faults.breakOnce(/^LISTEN/, 'lost');
  await ask({ projectId: made.projectId, workflowId: made.workflowId, beatMs });
  expect(isBroken()).toBe(true);
  await sleep(4 * beatMs);
  await expectNoBurst(made);
});

const STEPS: [string, RegExp, { unknown: number }][] = [
  ['the burst says that it is at work', /^\s*INSERT INTO email_queue_drains/, { unknown: 0 }],
  ['emails are claimed', /SET state = 'claimed'/, { unknown: NAMES.length }],
  ['where links lead is written', /INSERT INTO tracked_links/, { unknown: NAMES.length }],
  ['outcomes are recorded', /^\s*WITH outcome AS/, { unknown: NAMES.length }],
  ['what was not sent waits again', /^\s*WITH back AS/, { unknown: NAMES.length }],
  ['the burst ends', /DELETE FROM email_queue_drains/, { unknown: 0 }],
];

for (const [fault, when] of [
  ['kept', 'before'],
  ['held', 'after'],
] as const) {
  test.each(STEPS)(
    `kill -9 ${when} %s: no email goes out twice, none is lost, and it goes on in another process`,
    async (_step, text, { unknown }) => {
      const made = await emails();
      const work = { projectId: made.projectId, workflowId: made.workflowId };
      expect(await faults.killAt(text, fault, work)).toMatch(text);
      await burst(made);
      await expectNoBurst(made);
      await sendRest(made);
      await expectLedgerConsistent(faults.worker, made, unknown, faults.sink.counts());
    },
    60_000,
  );
}

for (const pipelining of [true, false]) {
  test.each(DIALOGUE_BREAKS)(
    `a mail server ${pipelining ? 'with' : 'without'} PIPELINING that breaks at %s in a burst: no email goes out twice, and unknown is only what may have had its final dot`,
    async (at) => {
      const server = await startBreakingServer({ at, pipelining, to: 'bob' });
      await faults.worker.kill();
      await startWorker(server.url);
      const made = await emails(['ada', 'bob', 'eve', 'kim', 'lea', 'mia']);
      await burst(made);
      await sendRest(made);
      expect(server.isBroken()).toBe(true);
      // A short body and its dot are one write.
      const unknown = at === 'body' || at === 'dot' || at === 'half an answer' ? 1 : 0;
      await expectLedgerConsistent(faults.worker, made, unknown, server.counts());
      server.close();
    },
    60_000,
  );
}
