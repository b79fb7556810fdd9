import { migrate } from '@postroom/migrations';
import { useDatabase } from '@postroom/testkit/own-database';
import { databaseBefore } from '@postroom/testkit/previous-schema';
import { execute } from '@postroom/testkit/database';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { ALL } from './reserved.ts';

const MIGRATION = '20261126030000_message_partitions';
const CONTACTS = 4_000;

/** What programs do with mail of no campaign, as they do it. */
const MAIL = [
  `WITH message AS (
     INSERT INTO messages (id, project_id, email, not_before) SELECT postroom_id('eml'), 'prj_1', 'ada@mail.test', now() FROM generate_series(1, 10) RETURNING id
   ), content AS (
     INSERT INTO message_contents (message_id, "from", "to") SELECT id, 'a@example.com', '[]' FROM message RETURNING message_id
   ) INSERT INTO message_attachments (message_id, position, filename, content) SELECT message_id, 0, 'a.txt', 'a' FROM content`,
  `WITH due AS (SELECT id FROM messages WHERE project_id = 'prj_1' AND campaign_id IS NULL AND state = 'planned' ORDER BY not_before LIMIT 10 FOR NO KEY UPDATE SKIP LOCKED)
   UPDATE messages m SET state = 'accepted', accepted_at = now(), dispatched_at = now() WHERE m.id = ANY (ARRAY(SELECT id FROM due))`,
  `DELETE FROM messages WHERE id = ANY (ARRAY(
     SELECT id FROM messages WHERE project_id = 'prj_1' AND campaign_id IS NULL AND state = 'accepted' ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED))`,
];

/** Runs the statements until stopped. @returns the time of the slowest one, in milliseconds. */
async function repeat(url: string, signal: AbortSignal): Promise<number> {
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  let slowestMs = 0;
  try {
    while (!signal.aborted)
      for (const [name, text] of MAIL.entries()) {
        const startedAt = performance.now();
        await session.query({ name: String(name), text });
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      }
    return slowestMs;
  } finally {
    await session.end();
  }
}

test('messages in use are partitioned by a command: no statement fails, and a campaign claims each message once', async () => {
  const { url, client } = await databaseBefore(MIGRATION);
  await client.query(`INSERT INTO projects (id, name) VALUES ('prj_1', 'Test')`);
  for (const statement of MAIL) await client.query(statement);
  expect(await migrate(url)).toContain(MIGRATION);
  const isPartitioned = async () =>
    (await client.query<{ is: boolean }>('SELECT messages_are_partitioned() AS is')).rows[0]?.is;
  expect(await isPartitioned()).toBe(false);
  onTestFinished(useDatabase(url));
  const { claimPage, dropOldMessages, partitionMessages, settle } = await import('@postroom/ledger');
  const { snapshotRecipients } = await import('../src/snapshot-recipients.ts');
  await client.query(`
    INSERT INTO groups (id, project_id, name, public_name, updated_at) VALUES ('grp_1', 'prj_1', 'All', 'All', now());
    WITH contact AS (
      INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
      SELECT postroom_id('ctc'), 'prj_1', n || '@mail.test', n || '@mail.test', n, 'api', now() FROM generate_series(1, ${CONTACTS}) n RETURNING id
    ) INSERT INTO group_members (group_id, contact_id) SELECT 'grp_1', id FROM contact;
    INSERT INTO campaigns (id, project_id, name, subject, status, fencing_token, group_ids, updated_at, started_at, is_counted)
      VALUES ('cmp_1', 'prj_1', 'Claims', 'News', 'sending', 'run', ARRAY['grp_1'], now(), now(), true)`);
  await snapshotRecipients('cmp_1');

  // A command that was interrupted has left its constraint.
  await execute(url, 'SELECT bound_messages()');
  await dropOldMessages({ markExpired: () => Promise.resolve() });
  expect((await client.query(`SELECT FROM pg_constraint WHERE conname LIKE '%_past_bound'`)).rows).toEqual([]);

  const stop = new AbortController();
  const traffic = Array.from({ length: 3 }, () => repeat(url, stop.signal));
  const claimed: string[] = [];
  const claimAll = async (upTo: number) => {
    while (claimed.length < upTo) {
      const { rows } = await claimPage('cmp_1', 'run', 50, false, ALL);
      claimed.push(...rows.map(({ id }) => id));
      await settle(
        'run',
        rows.map(({ id }) => ({ id, state: 'accepted', answer: '250 ok' })),
        '',
      );
      if (rows.length === 0) return;
    }
  };
  await claimAll(CONTACTS / 4);
  const [, second] = await Promise.allSettled([
    partitionMessages(),
    new Promise((resolve) => setTimeout(resolve, 20)).then(partitionMessages),
    claimAll(CONTACTS),
  ]);
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } });
  await claimAll(Infinity);
  stop.abort();
  for (const slowestMs of await Promise.all(traffic)) expect(slowestMs).toBeLessThan(5_000);

  expect(await isPartitioned()).toBe(true);
  expect(claimed).toHaveLength(CONTACTS);
  expect(new Set(claimed).size).toBe(CONTACTS);
  const { rows: counts } = await client.query(`
    SELECT (SELECT count(*)::int FROM messages WHERE campaign_id = 'cmp_1' AND state = 'accepted') AS accepted,
      (SELECT sum(number)::int FROM campaign_counts WHERE kind = 'sent') AS counted,
      (SELECT count(*)::int FROM messages WHERE campaign_id IS NULL) = (SELECT count(*)::int FROM message_contents) AS contents,
      (SELECT count(*)::int FROM message_contents) = (SELECT count(*)::int FROM message_attachments) AS attachments`);
  expect(counts[0]).toEqual({ accepted: CONTACTS, counted: CONTACTS, contents: true, attachments: true });
  await expect(partitionMessages()).rejects.toMatchObject({ code: 'conflict' });

  // Autovacuum has none of the whole table.
  const { rows: statistics } = await client.query(
    `SELECT n_distinct FROM pg_stats WHERE tablename = 'messages' AND attname = 'contact_id' AND inherited`,
  );
  expect(statistics).toHaveLength(1);

  // Every partition has the same indexes.
  const { rows: partitions } = await client.query<{ name: string }>(`
    SELECT p.name, (SELECT count(*)::int FROM pg_index i WHERE i.indrelid = p.name::regclass AND i.indisvalid) AS indexes,
      (SELECT count(*)::int FROM pg_index i WHERE i.indrelid = p.name::regclass AND i.indisunique AND NOT i.indisprimary) AS unique
    FROM list_partitions('messages') p`);
  expect(partitions.length).toBeGreaterThanOrEqual(2);
  const { indexes } = partitions[0] as unknown as { indexes: number };
  for (const { name, ...has } of partitions) expect([name, has]).toEqual([name, { indexes, unique: 1 }]);

  // A contact is in a campaign once, in later partitions as well.
  const insert = (id: string) =>
    client.query(
      `INSERT INTO messages (id, project_id, campaign_id, contact_id, email) VALUES (left(partition_bound('eml', now() + interval '60 days'), 18) || $1, 'prj_1', 'cmp_2', 'ctc_1', '')`,
      [id],
    );
  await insert('000000000001');
  await expect(insert('000000000002')).rejects.toThrow('contact_id_campaign_id_key');
  await expect(client.query(`UPDATE campaigns SET snapshot_prefix = 'eml_1' WHERE id = 'cmp_1'`)).rejects.toThrow(
    'the prefix of the messages',
  );
}, 60_000);
