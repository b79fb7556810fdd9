import {
  claimPage,
  endShards,
  extendShard,
  inLedgerTransaction,
  newClaim,
  openShard,
  renewShard,
  requeuePage,
  settle,
  type Settlement,
  settleStaleClaims,
} from '@postroom/ledger';
import { eraseSubject as eraseMessages } from '../../ledger/src/privacy.ts';
import { idsFrom, inTransaction, newId, pool } from '@postroom/platform';
import type { Unsubscriber } from '@postroom/unsubscribe';
import { expect, test } from 'vitest';
import { eraseSubject as withdrawErased } from '../src/privacy.ts';
import { preferences } from '../src/preferences.ts';
import { complete } from '../src/send-run.ts';
import { snapshotRecipients } from '../src/snapshot-recipients.ts';
import { checkPlans } from '@postroom/testkit/plans';
import { ALL } from './reserved.ts';

checkPlans();

const DURATION_MS = 6_000;
const CONTACTS = 3_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A campaign that is being sent, whose messages are in the partition of a time. */
async function sending(at: Date) {
  const [projectId, groupId, id] = [newId('prj'), newId('grp'), newId('cmp')];
  await pool.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await pool.query(
    `INSERT INTO groups (id, project_id, name, public_name, updated_at) VALUES ($1, $2, 'All', 'All', now())`,
    [groupId, projectId],
  );
  await pool.query(
    `WITH contact AS (
       INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
       SELECT postroom_id('ctc'), $1, n || '@mail.test', n || '@mail.test', n, 'api', now() FROM generate_series(1, $3::int) n RETURNING id
     ) INSERT INTO group_members (group_id, contact_id) SELECT $2, id FROM contact`,
    [projectId, groupId, CONTACTS],
  );
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, fencing_token, group_ids, snapshot_prefix, updated_at, started_at, is_counted)
     VALUES ($1, $2, 'Claims', 'News', 'sending', 'run', ARRAY[$3], $4, now(), now(), true)`,
    [id, projectId, groupId, idsFrom('eml', at).slice(0, 18)],
  );
  await snapshotRecipients(id);
  const { rows } = await pool.query<{ id: string; email: string }>(
    'SELECT id, email FROM contacts WHERE project_id = $1',
    [projectId],
  );
  return { id, projectId, contacts: rows };
}

type Sending = Awaited<ReturnType<typeof sending>>;

const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;

const outcomeOf = ({ id }: { id: string }): Settlement => {
  const dice = Math.random();
  if (dice < 0.7) return { id, state: 'accepted', answer: '250 ok' };
  return dice < 0.85
    ? { id, state: 'planned', answer: '450 later', waitMs: 10, deferred: true }
    : { id, state: 'failed', answer: '550 no' };
};

/** Settles in parts, at the same time, as a send pipeline does. */
async function settleAll(claim: string, rows: readonly { id: string }[], by: 'campaign' | 'shard'): Promise<void> {
  const parts = Array.from({ length: 3 }, (_, part) => rows.filter((_row, index) => index % 3 === part));
  await Promise.all(parts.map((part) => settle(claim, part.map(outcomeOf), '', by)));
}

/**
 * PostgreSQL evaluates parts of a statement again for every row that another one has changed since it began. Versions 18.0 to 18.4 then
 * corrupt memory if the statement chooses partitions while it runs; such statements crashed the server within a second of this.
 */
test('claims, settlements, shards, retries, erasures and withdrawals go on at the same time, and no message is lost', async () => {
  // At different milliseconds: the ids of messages begin with the time.
  const campaigns = await Promise.all([0, 1, 60 * DAY_MS].map((ago) => sending(new Date(Date.now() - ago))));
  const until = Date.now() + DURATION_MS;
  const errors: unknown[] = [];
  const repeat = async (work: () => Promise<unknown>) => {
    while (Date.now() < until) await work();
  };
  const run = ({ id }: Sending) =>
    repeat(async () => {
      const { rows } = await claimPage(id, 'run', 60, true, ALL);
      await settleAll('run', rows, 'campaign');
    });
  const shard = ({ id }: Sending) =>
    repeat(async () => {
      const token = newClaim();
      if (!(await openShard({ id, run: 1 }, token))) return;
      for (let range = 0; range < 3; range++) {
        const last = (await extendShard(id, token, 100))?.until ?? null;
        if (last === null) break;
        const reserved = { ...ALL, position: last, withDue: range > 0 };
        const { rows } = await claimPage(id, token, 60, true, reserved, undefined, 'shard');
        await Promise.all([settleAll(token, rows.slice(5), 'shard'), renewShard(token)]);
      }
      await endShards(id, { token });
      await settleStaleClaims({ campaignId: id }, 'run');
    });
  const retry = ({ id }: Sending) =>
    repeat(async () => {
      await inLedgerTransaction((client) =>
        requeuePage(client, { campaignId: id, ids: null, after: '' }, pick(['failed', 'unknown'])),
      );
    });
  const withdraw = ({ projectId, contacts }: Sending) =>
    repeat(async () => {
      const contact = pick(contacts);
      await preferences.keep({ projectId, contactId: contact.id } as Unsubscriber, []);
    });
  const erase = ({ projectId, contacts }: Sending) =>
    repeat(async () => {
      const { id: contactId, email } = pick(contacts);
      const alias = `${newId('ctc')}@erased.invalid`;
      const erasure = { projectId, keys: [email], spellings: [email], contactId, alias } as never;
      await inTransaction(async (tx) => {
        await withdrawErased(tx as never, erasure);
        await eraseMessages(tx as never, erasure);
      });
    });
  const open = ({ id }: Sending) =>
    repeat(async () => {
      await pool.query(
        `UPDATE messages SET opened_at = now() WHERE id = ANY (ARRAY(SELECT id FROM messages WHERE campaign_id = $1 AND claim IS NOT NULL ORDER BY random() LIMIT 20))`,
        [id],
      );
    });
  await Promise.all(
    campaigns.flatMap((campaign) =>
      [run, run, shard, shard, retry, withdraw, erase, open].map((work) =>
        work(campaign).catch((error: unknown) => {
          if (!/deadlock/.test(String(error))) errors.push(error);
        }),
      ),
    ),
  );
  expect(errors).toEqual([]);
  for (const { id } of campaigns) {
    await endShards(id, 'all');
    await settleStaleClaims({ campaignId: id }, newClaim());
    const { rows } = await pool.query(
      `SELECT count(*)::int AS messages, count(DISTINCT contact_id)::int AS contacts,
         count(*) FILTER (WHERE state = 'accepted')::int - max(c.accepted_count) AS accepted, count(*) FILTER (WHERE state = 'failed')::int - max(c.failed_count) AS failed,
         count(*) FILTER (WHERE state = 'suppressed')::int - max(c.suppressed_count) AS suppressed, count(*) FILTER (WHERE state = 'unknown')::int - max(c.unknown_count) AS unknown,
         count(*) FILTER (WHERE state = 'claimed')::int AS claimed, max(c.claimed_count) AS claimed_count
       FROM messages m JOIN campaigns c ON c.id = m.campaign_id WHERE m.campaign_id = $1`,
      [id],
    );
    const none = { accepted: 0, failed: 0, suppressed: 0, unknown: 0, claimed: 0, claimed_count: 0 };
    expect(rows[0]).toEqual({ messages: CONTACTS, contacts: CONTACTS, ...none });
    expect(await complete({ id, run: 1 })).toBe(false);
  }
}, 60_000);
