import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as ledger from '@postroom/ledger';
import type * as platform from '@postroom/platform';
import { createDatabase } from '@postroom/testkit/database';
import { useDatabase } from '@postroom/testkit/own-database';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type * as retention from '../src/retention.ts';
import { ALL } from './reserved.ts';

/** Its own database: in the others some project keeps its messages forever. */
let database: Awaited<ReturnType<typeof createDatabase>>;
let archive: string;
let closeDatabase: () => Promise<void>;
let parts: Pick<typeof platform, 'pool' | 'newId' | 'idsFrom'> &
  Pick<typeof retention, 'deleteOld'> &
  Pick<typeof ledger, 'claimPage'>;
const DAY_MS = 24 * 60 * 60 * 1000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

beforeAll(async () => {
  database = await createDatabase('message_partitions');
  archive = await mkdtemp(join(tmpdir(), 'archive-'));
  vi.stubEnv('ARCHIVE_URL', pathToFileURL(archive).href);
  closeDatabase = useDatabase(database.url);
  const { pool, newId, idsFrom } = await import('@postroom/platform');
  const { claimPage } = await import('@postroom/ledger');
  const { deleteOld } = await import('../src/retention.ts');
  parts = { pool, newId, idsFrom, deleteOld, claimPage };
  // Weeks from half a year ago.
  const monday = new Date(Math.floor((Date.now() / DAY_MS + 3) / 7) * 7 * DAY_MS - 3 * DAY_MS - 182 * DAY_MS);
  for (const table of ['messages', 'message_contents'])
    await pool.query(`
      DO $$ DECLARE found record; BEGIN
        FOR found IN SELECT name FROM list_partitions('${table}') WHERE name ~ '\\d{8}$' LOOP EXECUTE format('DROP TABLE %I', found.name); END LOOP;
        ALTER TABLE ${table} DETACH PARTITION ${table}_past;
        ALTER TABLE ${table} DETACH PARTITION ${table}_rest;
        ALTER TABLE ${table} ATTACH PARTITION ${table}_past FOR VALUES FROM (MINVALUE) TO ('${idsFrom('eml', monday)}');
        ALTER TABLE ${table} ATTACH PARTITION ${table}_rest FOR VALUES FROM ('${idsFrom('eml', monday)}') TO (MAXVALUE);
        PERFORM extend_partitions('${table}', 'eml', '1 week', '3 weeks');
      END $$`);
});

afterAll(async () => {
  await closeDatabase();
  await rm(archive, { recursive: true, force: true });
  await database.drop();
});

/** An email with its content, attachment, link and hit. */
async function email(projectId: string, days: number, state = 'accepted', closedDays = days): Promise<string> {
  const { pool, idsFrom, newId } = parts;
  const id = idsFrom('eml', daysAgo(days)).slice(0, -12) + newId('eml').slice(-12);
  await pool.query(
    `WITH m AS (INSERT INTO messages (id, project_id, email, state, accepted_at, dispatched_at, not_before) VALUES ($1, $2, 'ada@mail.test', $3::message_state, $4, now(), now())),
       c AS (INSERT INTO message_contents (message_id, "from", "to") VALUES ($1, 'a@example.com', '[]')),
       l AS (INSERT INTO tracked_links (owner_id, position, url) VALUES ($1, 0, 'https://a.example/')),
       h AS (INSERT INTO tracking_hits (message_id, kind, at) VALUES ($1, 'open', now()))
     INSERT INTO message_attachments (message_id, position, filename, content) VALUES ($1, 0, 'a.txt', 'a')`,
    [id, projectId, state, state === 'accepted' ? daysAgo(closedDays) : null],
  );
  return id;
}

/** A campaign with two messages, started and ended the given numbers of days ago. */
async function campaign(projectId: string, startedDays: number, endedDays: number): Promise<string> {
  const { pool, idsFrom, newId } = parts;
  const id = newId('cmp');
  const prefix = idsFrom('eml', daysAgo(startedDays)).slice(0, 18);
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, status, frozen_at, completed_at, recipient_count, accepted_count, snapshot_prefix, updated_at)
     VALUES ($1, $2, 'News', 'completed', $3, $4, 2, 2, $5, now())`,
    [id, projectId, daysAgo(startedDays), daysAgo(endedDays), prefix],
  );
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at)
     SELECT $1 || lpad(n::text, 12, '0'), $2, $3, 'ctc_' || n, 'ada@mail.test', 'accepted', $4 FROM generate_series(1, 2) n`,
    [prefix, projectId, id, daysAgo(startedDays)],
  );
  return id;
}

async function project(days: number): Promise<string> {
  const id = parts.newId('prj');
  await parts.pool.query('INSERT INTO projects (id, name, message_retention_days) VALUES ($1, $1, $2)', [id, days]);
  return id;
}

test('what no project keeps is dropped with its partition and all that belongs to it, and what is needed stays', async () => {
  const { pool, deleteOld } = parts;
  const [long, short] = [await project(60), await project(30)];
  const old = await email(long, 100);
  const recent = await email(long, 20);
  const open = await email(long, 100, 'planned');
  const sentLate = await email(long, 100, 'accepted', 10);
  const shortOld = await email(short, 40);
  const ended = await campaign(long, 100, 99);
  const resumed = await campaign(long, 100, 10);
  const partition = async (id: string) =>
    (await pool.query<{ name: string }>('SELECT tableoid::regclass::text AS name FROM messages WHERE id = $1', [id]))
      .rows[0]?.name;
  const before = await partition(old);
  expect(before).toMatch(/^messages_\d{8}$/);

  const deleted = await deleteOld({});
  expect(deleted.messagePartitions).toBeGreaterThan(10);
  expect((await stat(join(archive, `messages/${before}/00001.parquet`))).size).toBeGreaterThan(1_000);
  const { rows: left } = await pool.query<{ name: string }>(`SELECT name FROM list_partitions('messages')`);
  expect(left.map(({ name }) => name)).not.toContain(before);
  const rowsOf = async (table: string, column: string, ids: readonly string[]) =>
    (
      await pool.query<{ id: string }>(`SELECT DISTINCT ${column} AS id FROM ${table} WHERE ${column} = ANY ($1)`, [
        ids,
      ])
    ).rows
      .map(({ id }) => id)
      .toSorted();
  const kept = [recent, open, sentLate].toSorted();
  for (const [table, column] of [
    ['messages', 'id'],
    ['message_contents', 'message_id'],
    ['message_attachments', 'message_id'],
    ['tracked_links', 'owner_id'],
    ['tracking_hits', 'message_id'],
  ] as const)
    expect([table, await rowsOf(table, column, [old, recent, open, sentLate, shortOld])]).toEqual([table, kept]);
  expect(await partition(open)).toBe('messages_past');
  expect(await rowsOf('messages', 'campaign_id', [ended, resumed])).toEqual([resumed]);
  const { rows: marked } = await pool.query(
    'SELECT id FROM campaigns WHERE recipients_deleted_at IS NOT NULL AND id = ANY ($1)',
    [[ended, resumed]],
  );
  expect(marked).toEqual([{ id: ended }]);

  // A project that keeps its messages forever.
  await pool.query('UPDATE projects SET message_retention_days = NULL WHERE id = $1', [short]);
  await pool.query(`UPDATE messages SET state = 'accepted', accepted_at = $2 WHERE id = $1`, [open, daysAgo(90)]);
  expect((await deleteOld({})).messagePartitions).toBe(0);
  expect(await rowsOf('messages', 'id', [open, sentLate])).toEqual([sentLate]);
});

test('a campaign that is being sent goes on with its messages after they have moved to another partition', async () => {
  const { pool, deleteOld, claimPage } = parts;
  await pool.query('UPDATE projects SET message_retention_days = 30');
  const projectId = await project(60);
  const id = await campaign(projectId, 40, 1);
  await pool.query(`UPDATE campaigns SET status = 'sending', fencing_token = 'run' WHERE id = $1`, [id]);
  await pool.query(
    `UPDATE messages SET state = 'planned', accepted_at = NULL, email = contact_id || '@mail.test' WHERE campaign_id = $1`,
    [id],
  );
  await pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
     SELECT contact_id, $1, email, email, '', 'api', now() FROM messages WHERE campaign_id = $2 ON CONFLICT DO NOTHING`,
    [projectId, id],
  );
  const claim = async () => (await claimPage(id, 'run', 1, false, ALL)).rows.map((row) => row.id.slice(-1));
  const partition = async () =>
    (
      await pool.query<{ name: string }>(
        'SELECT DISTINCT tableoid::regclass::text AS name FROM messages WHERE campaign_id = $1',
        [id],
      )
    ).rows.map(({ name }) => name);
  expect((await partition())[0]).toMatch(/^messages_\d{8}$/);
  expect(await claim()).toEqual(['1']);
  expect((await deleteOld({ now: Date.now() + 30 * DAY_MS })).messagePartitions).toBeGreaterThan(0);
  expect(await partition()).toEqual(['messages_past']);
  expect(await claim()).toEqual(['2']);
  expect(await claim()).toEqual([]);
});
