import { once } from 'node:events';
import { join } from 'node:path';
import { newId } from '@postroom/platform';
import {
  type DatabaseFault,
  type DatabaseProxy,
  killableWorker,
  type KillableWorker,
  type SmtpSink,
  startDatabaseProxy,
  startSmtpSink,
} from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let sink: SmtpSink;
let worker: KillableWorker;
let proxy: DatabaseProxy;

beforeAll(async () => {
  sink = await startSmtpSink((to, tries) => {
    if (to.includes('refused')) return { code: 554, message: '5.7.1 Refused by policy' };
    if (to.includes('later') && tries === 0) return { code: 421, message: '4.3.2 Going down' };
    return undefined;
  });
  worker = await killableWorker(join(import.meta.dirname, 'faults.worker.ts'));
  proxy = await startDatabaseProxy(worker.databaseUrl);
  worker.start({ DATABASE_URL: proxy.url, SMTP_URL: sink.url, SMTP_CONNECTIONS: '2' });
  await once(worker.process!, 'message');
}, 120_000);

afterAll(async () => {
  await worker.close();
  await proxy.close();
  await sink.close();
});

const NAMES = ['ada', 'refused', 'bob', 'later', 'gone', 'eve'];

/** Emails that the relay has given to a workflow; one address was suppressed after they were taken. */
async function emails(): Promise<{ projectId: string; workflowId: string; addresses: string[] }> {
  const projectId = newId('prj');
  const ids = NAMES.map(() => newId('eml'));
  const [workflowId = ''] = ids;
  const addresses = NAMES.map((name) => `${name}.${workflowId}@mail.test`);
  const { db } = worker;
  await db.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await db.query(
    `WITH message AS (
       INSERT INTO messages (id, project_id, email, subject, not_before, handed_at, workflow_id)
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

async function send(workflowId: string): Promise<void> {
  worker.process?.send(workflowId);
  await once(worker.process!, 'message');
}

async function expectTruth({ projectId, addresses }: Awaited<ReturnType<typeof emails>>, mostUnknown: number) {
  const { rows } = await worker.db.query<{ email: string; state: string }>(
    'SELECT email, state::text FROM messages WHERE project_id = $1',
    [projectId],
  );
  const got = sink.counts();
  const inState = (state: string) => rows.filter((row) => row.state === state).length;
  expect(addresses.filter((address) => (got.get(address) ?? 0) > 1)).toEqual([]);
  for (const { email, state } of rows) {
    const end = email.startsWith('refused') ? 'failed' : email.startsWith('gone') ? 'suppressed' : 'unknown';
    expect(got.has(email) ? ['accepted', 'unknown'] : [end, 'unknown'], email).toContain(state);
  }
  expect(inState('unknown')).toBeLessThanOrEqual(mostUnknown);
  const { rows: events } = await worker.db.query<{ type: string; count: number }>(
    'SELECT type, count(*)::int AS count FROM events WHERE project_id = $1 GROUP BY type ORDER BY type',
    [projectId],
  );
  const expected = [
    { type: 'email.failed', count: inState('failed') },
    { type: 'email.sent', count: inState('accepted') },
  ];
  expect(events).toEqual(expected.filter(({ count }) => count > 0));
}

test.each<[DatabaseFault, string]>([
  ['lost', 'before the server has it'],
  ['unheard', 'after the server has done it, before its answer'],
  ['late', 'and the server does it later'],
])(
  'when the connection to the database breaks at any statement (%s: %s), no email goes out twice, none is lost, and each event is recorded once',
  async (fault) => {
    await send((await emails()).workflowId); // connections are open, statements are prepared
    const statements: string[] = [];
    proxy.watch(({ text }) => void statements.push(text.replace(/\s+/g, ' ').slice(0, 100)));
    await send((await emails()).workflowId);
    expect(statements.length).toBeGreaterThan(8);
    for (const at of statements.keys()) {
      const made = await emails();
      proxy.watch(({ number }) => (number === at + 1 ? fault : undefined));
      await send(made.workflowId);
      proxy.watch(() => undefined);
      try {
        await expectTruth(made, fault === 'late' ? NAMES.length : 0);
      } catch (error) {
        throw new Error(`statement ${at + 1}, ${statements[at]}: ${(error as Error).message}`, { cause: error });
      }
    }
  },
  120_000,
);
