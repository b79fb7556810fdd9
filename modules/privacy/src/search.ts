import {
  DEADLOCK,
  inTransaction,
  LOCK_NOT_AVAILABLE,
  paceBulkWork,
  pool,
  retryOn,
  sql,
  type Tx,
} from '@postroom/platform';
import { isHere } from '@postroom/projects/sql';
import { likeBeginnings, redactionBy, redactionValues, type SearchedTable } from '@postroom/redaction';
import { privacyParts } from './parts.ts';

/** Rows per transaction, unless a table says otherwise. */
const PAGE = 5_000;
/** How long a request searches, and a worker before the next erasure has its turn, in milliseconds. */
const SEARCH_MS = 5_000;

/** A lock timeout or a deadlock; the transaction is retried. */
export const LOCK_ERRORS = [LOCK_NOT_AVAILABLE, DEADLOCK];

/**
 * Senders lock rows in another order, so the lock timeout is shorter than PostgreSQL's deadlock timeout: an erasure backs out and retries
 * before a sender could be aborted.
 */
export const BACK_OUT = `SET LOCAL lock_timeout = '400ms'`;

/** An erasure, as far as tables have been searched. */
interface Search {
  id: string;
  projectId: string;
  contactId: string | null;
  spellings: string[];
  alias: string;
  searched: string[];
  cursor: string[];
}

/** Has all tables searched for a person, in the caller's transaction. @returns the id for `searchPages`. */
export async function startSearch(
  tx: Tx,
  { projectId, contactId, spellings, alias }: Pick<Search, 'projectId' | 'contactId' | 'spellings' | 'alias'>,
): Promise<string> {
  const [row] = await sql<{ id: string }>(
    tx,
    `INSERT INTO erasures (id, project_id, contact_id, spellings, alias) VALUES (gen_random_uuid(), $1, $2, $3, $4) RETURNING id`,
    [projectId, contactId, spellings, alias],
  );
  return row!.id;
}

const LOCKED = `
  SELECT id, project_id AS "projectId", contact_id AS "contactId", spellings, alias, searched, cursor
  FROM erasures e WHERE id = $1 AND ${isHere('e.project_id')} FOR UPDATE SKIP LOCKED`;

/**
 * Replaces the person's addresses in the next page of a table.
 * @returns false if every table has been searched, or another process searches now.
 */
async function searchPage(tx: Tx, id: string): Promise<boolean> {
  const [search] = await sql<Search>(tx, LOCKED, [id]);
  if (search === undefined) return false;
  const parts = await privacyParts();
  const table = parts.flatMap(({ searched = [] }) => searched).find(({ name }) => !search.searched.includes(name));
  if (table === undefined) {
    await sql(tx, 'DELETE FROM erasures WHERE id = $1', [id]);
    return false;
  }
  await sql(tx, BACK_OUT);
  const { page, pageSize = PAGE } = table;
  const rows = await sql<{ id: string; after: string[] }>(tx, page, [search.projectId, search.cursor, pageSize]);
  const last = rows.at(-1);
  if (last !== undefined) await erasePage(tx, table, search, { ids: rows.map((row) => row.id), last: last.after });
  const isDone = rows.length < pageSize;
  await sql(tx, 'UPDATE erasures SET searched = $2, cursor = $3 WHERE id = $1', [
    id,
    isDone ? [...search.searched, table.name] : search.searched,
    isDone ? [] : last?.after,
  ]);
  return true;
}

/** PostgreSQL must know the type of each parameter, also of those that a table does not use. */
const TYPES = '($1::text, $2::text[], $3::text[], $4::text[], $5::text, $6::text, $7::text[]) IS NOT NULL';

async function erasePage(
  tx: Tx,
  { table, columns, isOfPage, deletedBy }: SearchedTable,
  search: Search,
  { ids, last }: { ids: string[]; last: string[] },
): Promise<void> {
  const { set, mentions } = redactionBy(columns, { pattern: '$5', alias: '$6', beginnings: '$7' });
  const [projectId, pattern, alias] = redactionValues(search);
  const values = [projectId, ids, search.cursor, last, pattern, alias, likeBeginnings(search.spellings)];
  if (deletedBy === undefined)
    await sql(tx, `UPDATE ${table} t SET ${set} WHERE ${TYPES} AND ${isOfPage} AND ${mentions}`, values);
  else
    await sql(tx, `DELETE FROM ${table} t WHERE ${TYPES} AND ${isOfPage} AND (${mentions} OR t.${deletedBy} = $8)`, [
      ...values,
      search.contactId,
    ]);
}

/**
 * Searches for the person of an erasure for some seconds, page by page, each in its own transaction.
 * @returns whether every table has been searched.
 */
export async function searchPages({ id, projectId }: { id: string; projectId: string }): Promise<boolean> {
  const until = performance.now() + SEARCH_MS;
  while (performance.now() < until) {
    const began = performance.now();
    const options = { attempts: 30 };
    if (!(await retryOn(LOCK_ERRORS, () => inTransaction((tx) => searchPage(tx, id)), options))) break;
    await paceBulkWork(projectId, performance.now() - began);
  }
  const { rowCount } = await pool.query('SELECT FROM erasures WHERE id = $1', [id]);
  return rowCount === 0;
}

/** Erasures whose request has ended. */
const OPEN = `
  SELECT id, project_id AS "projectId" FROM erasures e
  WHERE created_at < now() - ${2 * SEARCH_MS} * interval '1 millisecond' AND ${isHere('e.project_id')} ORDER BY random() LIMIT 100`;

/** Goes on with what requests have left, each erasure in turn. Several workers may do so at once. */
export async function searchAll(): Promise<void> {
  const { rows } = await pool.query<{ id: string; projectId: string }>({ name: 'open-erasures', text: OPEN });
  for (const search of rows) await searchPages(search);
}
