import { join } from 'node:path';
import { requeuePage } from '@postroom/ledger';
import { newId } from '@postroom/platform';
import {
  type BreakingServer,
  type DatabaseFault,
  SESSION_BREAKS,
  eventually,
  DELAY_MS,
  mailFaults,
  type ProxiedStatement,
  rejectOrDefer,
  startBreakingServer,
} from '@postroom/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const faults = mailFaults(join(import.meta.dirname, 'faults.worker.ts'));
const { startWorker } = faults;

interface Made {
  id: string;
  projectId: string;
  addresses: string[];
}

/** A started campaign without a recipient snapshot. */
async function campaign(names: readonly string[], ratePerSecond: number | null = null): Promise<Made> {
  const [projectId, id, groupId] = [newId('prj'), newId('cmp'), newId('grp')];
  const addresses = names.map((name) => `${name}.${id}@mail.test`);
  const { db } = faults.worker;
  await db.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await db.query(
    `INSERT INTO domains (id, project_id, domain, verified_for_sending, verification, updated_at)
     VALUES (postroom_id('dom'), $1, 'example.com', true, 'verified', now())`,
    [projectId],
  );
  await db.query(`INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, 'All', now())`, [
    groupId,
    projectId,
  ]);
  await db.query(
    `WITH contact AS (
       INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
       SELECT postroom_id('ctc'), $1, email, email, 'Reader', 'api', now() FROM unnest($2::text[]) AS email RETURNING id
     ) INSERT INTO group_members (group_id, contact_id) SELECT $3, id FROM contact`,
    [projectId, addresses, groupId],
  );
  await db.query(
    `INSERT INTO campaigns (id, project_id, name, subject, from_email, html, group_ids, status, started_at, rate_per_second, updated_at)
     VALUES ($1, $2, 'Faults', 'News', 'news@example.com', '<p>Hello</p>', ARRAY[$3], 'sending', now(), $4, now())`,
    [id, projectId, groupId, ratePerSecond],
  );
  return { id, projectId, addresses };
}

const NAMES = ['ada', 'refused', 'bob', 'later', 'eve', 'kim'];

/** Sends the campaign in the worker and returns its final status. */
const send = ({ id }: Made) => faults.ask(id);

const countOf = async (text: string, values: unknown[]) =>
  Number((await faults.worker.db.query<{ count: string }>(text, values)).rows[0]?.count);

/** Checks that messages, events and counters agree with what the server received. */
async function expectLedgerConsistent(
  { id, projectId, addresses }: Made,
  mostUnknown: number,
  got = faults.sink.counts(),
): Promise<void> {
  const { rows } = await faults.worker.db.query<{ email: string; state: string }>(
    'SELECT email, state::text FROM messages WHERE campaign_id = $1',
    [id],
  );
  const stateOf = new Map(rows.map(({ email, state }) => [email, state]));
  expect(rows).toHaveLength(addresses.length);
  expect(addresses.filter((address) => (got.get(address) ?? 0) > 1)).toEqual([]);
  for (const address of addresses) {
    const state = stateOf.get(address);
    const allowed = got.has(address)
      ? ['accepted', 'unknown']
      : address.includes('refused')
        ? ['failed', 'unknown']
        : ['unknown'];
    expect(allowed, `${address} is ${state}`).toContain(state);
  }
  const unknown = rows.filter(({ state }) => state === 'unknown').length;
  expect(unknown).toBeLessThanOrEqual(mostUnknown);
  const accepted = rows.filter(({ state }) => state === 'accepted').length;
  const events = async (type: string) =>
    countOf('SELECT count(*) FROM events WHERE project_id = $1 AND type = $2', [projectId, type]);
  expect([await events('campaign.started'), await events('campaign.completed')]).toEqual([1, 1]);
  expect(await events('email.sent')).toBe(accepted);
  expect(await events('email.failed')).toBe(rows.length - accepted - unknown);
  const { rows: counters } = await faults.worker.db.query(
    `SELECT recipient_count, claimed_count, accepted_count, failed_count, unknown_count FROM campaigns WHERE id = $1`,
    [id],
  );
  expect(counters).toEqual([
    {
      recipient_count: rows.length,
      claimed_count: 0,
      accepted_count: accepted,
      failed_count: rows.length - accepted - unknown,
      unknown_count: unknown,
    },
  ]);
}

/** The statements of one campaign, from its snapshot to its end. */
async function statementsOfCampaign(): Promise<ProxiedStatement[]> {
  const seen: ProxiedStatement[] = [];
  await send(await campaign(NAMES)); // connections are open, statements are prepared
  faults.proxy.watch((statement) => void seen.push(statement));
  await send(await campaign(NAMES));
  return seen;
}

test.each<[DatabaseFault, string]>([
  ['request-lost', 'before the server receives it'],
  ['reply-lost', 'after the server executes it, before its reply'],
  ['delayed', 'and the server executes it later'],
])(
  'when the connection to the database breaks at any statement (%s: %s), no recipient gets a message twice or is lost, and each event is recorded once',
  async (fault) => {
    const statements = await statementsOfCampaign();
    expect(statements.length).toBeGreaterThan(20);
    for (const { number } of statements) {
      const made = await campaign(NAMES);
      const seen: string[] = [];
      faults.proxy.watch((statement) => {
        seen.push(statement.text);
        return statement.number === number ? fault : undefined;
      });
      const outcome = await send(made);
      faults.proxy.watch(() => undefined);
      const label = `statement ${number}: ${seen[number - 1]?.replace(/\s+/g, ' ').slice(0, 100)}`;
      expect(outcome, label).toBe('completed');
      try {
        // Only a claim that the database executes after the worker has moved on is left unowned.
        await expectLedgerConsistent(made, fault === 'delayed' ? NAMES.length : 0);
      } catch (error) {
        throw new Error(`${label}: ${(error as Error).message}`, { cause: error });
      }
    }
  },
  300_000,
);

const STEPS: [string, RegExp, { unknown: number }][] = [
  ['the recipients are written', /^\s*INSERT INTO messages/, { unknown: 0 }],
  ['the snapshot commits', /^COMMIT/, { unknown: 0 }],
  ['a page is claimed', /\bclassified AS/, { unknown: NAMES.length }],
  ['outcomes are recorded', /^\s*WITH outcome AS/, { unknown: NAMES.length }],
  ['the campaign is completed', /SET status = 'completed'/, { unknown: 0 }],
];

for (const [fault, when] of [
  ['blocked', 'before'],
  ['reply-blocked', 'after'],
] as const) {
  test.each(STEPS)(
    `kill -9 ${when} %s: no recipient gets a message twice or is lost, and another process resumes`,
    async (_step, text, { unknown }) => {
      const made = await campaign(NAMES);
      expect(await faults.killAt(text, fault, made.id)).toMatch(text);
      expect(await send(made)).toBe('completed');
      await expectLedgerConsistent(made, unknown);
    },
    60_000,
  );
}

test('kill -9 after the completion has been committed: campaign.completed is recorded once', async () => {
  const made = await campaign(NAMES);
  let completes = false;
  faults.proxy.watch(({ text }) => {
    if (/SET status = 'completed'/.test(text)) completes = true;
    return completes && text === 'COMMIT' ? 'reply-blocked' : undefined;
  });
  faults.worker.process?.send(made.id);
  await faults.proxy.blocked();
  await faults.worker.kill();
  faults.proxy.watch(() => undefined);
  await startWorker();
  expect(await send(made)).toBe('completed');
  await expectLedgerConsistent(made, 0);
}, 60_000);

test('a delayed settlement of a first attempt is not applied to a second', async () => {
  const names = ['refused', ...Array.from({ length: 30 }, (_, index) => `reader${index}`)];
  const made = await campaign(names, 10);
  const [refused = ''] = made.addresses;
  // The server rejects the first attempt and slowly accepts the second.
  faults.sink.answer(async (to, tries) => {
    if (to !== refused) return undefined;
    if (tries === 0) return { code: 554, message: '5.7.1 Refused by policy' };
    await new Promise((resolve) => setTimeout(resolve, 2 * DELAY_MS));
    return undefined;
  });
  faults.breakOnce(/^\s*WITH outcome AS/, 'delayed');
  const ended = send(made);
  // The repeated statement records the rejection; the message is requeued before the original arrives.
  await eventually(async () => {
    const retried = await requeuePage(faults.worker.db, { campaignId: made.id, ids: null, after: '' }, 'failed');
    expect(retried).toMatchObject({ count: 1 });
  });
  expect(await ended).toBe('completed');
  faults.sink.answer(rejectOrDefer);
  expect(faults.sink.counts().get(refused)).toBe(1);
  const { rows } = await faults.worker.db.query(
    `SELECT state::text FROM messages WHERE campaign_id = $1 AND email = $2`,
    [made.id, refused],
  );
  expect(rows).toEqual([{ state: 'accepted' }]);
}, 60_000);

test('a campaign canceled before its snapshot has no recipients and does not emit campaign.started', async () => {
  const made = await campaign(NAMES);
  await faults.worker.db.query(`UPDATE campaigns SET status = 'canceled' WHERE id = $1`, [made.id]);
  expect(await send(made)).toBe('canceled');
  expect(await countOf('SELECT count(*) FROM messages WHERE campaign_id = $1', [made.id])).toBe(0);
  expect(await countOf('SELECT count(*) FROM events WHERE project_id = $1', [made.projectId])).toBe(0);
});

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
      `a mail server ${pipelining ? 'with' : 'without'} PIPELINING that breaks at %s: no recipient gets a message twice, and only a message whose final dot may have arrived is unknown`,
      async (at) => {
        server.breakAt({ at, pipelining, to: 'bob' });
        const made = await campaign(['ada', 'bob', 'eve', 'kim', 'lea', 'mia']);
        expect(await send(made)).toBe('completed');
        expect(server.isBroken()).toBe(true);
        // A short body and its final dot are one write.
        const unknown = at === 'body' || at === 'dot' || at === 'half a reply' ? 1 : 0;
        await expectLedgerConsistent(made, unknown, server.counts());
      },
      60_000,
    );
  }
});
