import { join } from 'node:path';
import { newId } from '@postroom/platform';
import { type DatabaseFault, mailFaults } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { expectLedgerConsistent, NAMES } from './fault-kit.ts';

const faults = mailFaults(join(import.meta.dirname, 'faults.worker.ts'));
const send = ({ workflowId }: Made) => faults.ask(workflowId);

interface Made {
  projectId: string;
  workflowId: string;
  addresses: string[];
}

/** Emails that the dispatcher has assigned to a workflow; one address was suppressed after they were accepted. */
async function emails(): Promise<Made> {
  const projectId = newId('prj');
  const ids = NAMES.map(() => newId('eml'));
  const [workflowId = ''] = ids;
  const addresses = NAMES.map((name) => `${name}.${workflowId}@mail.test`);
  const { db } = faults.worker;
  await db.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await db.query(
    `WITH message AS (
       INSERT INTO messages (id, project_id, email, subject, not_before, dispatched_at, workflow_id)
       SELECT id, $1, email, 'Receipt', now(), now(), $4 FROM unnest($2::text[], $3::text[]) AS m(id, email)
     ), suppression AS (
       INSERT INTO suppressions (id, project_id, email, email_key, reason)
       SELECT postroom_id('sup'), $1, email, email, 'manual' FROM unnest($3::text[]) AS email WHERE email LIKE 'gone%'
     ) INSERT INTO message_contents (message_id, "from", "to", html)
     SELECT id, 'shop@example.com', json_build_array(email), '<p>Thank you</p>' FROM unnest($2::text[], $3::text[]) AS m(id, email)`,
    [projectId, ids, addresses, workflowId],
  );
  return { projectId, workflowId, addresses };
}

test.each<[DatabaseFault, string]>([
  ['request-lost', 'before the server receives it'],
  ['reply-lost', 'after the server executes it, before its reply'],
  ['delayed', 'and the server executes it later'],
])(
  'when the connection to the database breaks at any statement (%s: %s), no email is sent twice, none is lost, and each event is recorded once',
  async (fault) => {
    await send(await emails()); // opens connections and prepares statements
    const statements: string[] = [];
    faults.proxy.watch(({ text }) => void statements.push(text.replace(/\s+/g, ' ').slice(0, 100)));
    await send(await emails());
    expect(statements.length).toBeGreaterThan(8);
    for (const at of statements.keys()) {
      const made = await emails();
      faults.proxy.watch(({ number }) => (number === at + 1 ? fault : undefined));
      await send(made);
      faults.proxy.watch(() => undefined);
      try {
        await expectLedgerConsistent(faults.worker, made, fault === 'delayed' ? NAMES.length : 0, faults.sink.counts());
      } catch (error) {
        throw new Error(`statement ${at + 1}, ${statements[at]}: ${(error as Error).message}`, { cause: error });
      }
    }
  },
  120_000,
);
