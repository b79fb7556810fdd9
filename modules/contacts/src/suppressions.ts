import {
  countUpTo,
  emailKey,
  emailProblem,
  invalid,
  inTransaction,
  isId,
  newId,
  normalizeEmail,
  notFound,
  type Page,
  type PageArgs,
  pool,
  readPage,
  record,
  sql,
  type Tx,
} from '@postroom/platform';
import { type ContactFacts, contactSubscribed, contactUnsubscribed, FACTS_COLUMNS } from './events.ts';
import { Parameters } from '@postroom/segment-filters';
import type { SUPPRESSION_REASONS, SUPPRESSION_STATUSES } from './sql.ts';

/** Why an address must not be mailed. */
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

/** The suppression status that contacts show. */
export type SuppressionStatus = (typeof SUPPRESSION_STATUSES)[number];

/**
 * Who caused a suppression: the recipient by a link in a message, a report about a message (a bounce or a complaint), a
 * user, an API key, or an imported list.
 */
const SUPPRESSION_ORIGINS = ['recipient', 'report', 'user', 'api', 'import'] as const;
export type SuppressionOrigin = (typeof SUPPRESSION_ORIGINS)[number];

/** Who adds a suppression. */
export interface SuppressionActor {
  origin: SuppressionOrigin;
  /** `usr_…` or `key_…`. */
  actorId?: string | undefined;
}

export interface Suppression {
  id: string;
  email: string;
  reason: SuppressionReason;
  /** Null if it was added before origins were recorded. */
  origin: SuppressionOrigin | null;
  /** `usr_…` or `key_…`. */
  addedById: string | null;
  createdAt: Date;
}

/** The suppression status of the contact `c`, for a SELECT. PostgreSQL's enum has the order of SUPPRESSION_REASONS. */
export const SUPPRESSION_STATUS_SQL = `CASE WHEN c.suppressed THEN coalesce((SELECT min(s.reason)::text FROM suppressions s
  WHERE s.project_id = c.project_id AND s.email_key = c.email_key), 'manual') ELSE 'none' END`;

const COLUMNS = 's.id, s.email, s.reason, s.origin, s.added_by_id AS "addedById", s.created_at AS "createdAt"';

export interface SuppressionFilter extends PageArgs {
  email?: string | null | undefined;
  reason?: SuppressionReason | null | undefined;
  createdAfter?: Date | null | undefined;
  createdBefore?: Date | null | undefined;
}

/** The project's suppressions that match every filter, newest first. */
export async function listSuppressions(
  projectId: string,
  { email, reason, createdAfter, createdBefore, ...page }: SuppressionFilter,
): Promise<Page<Suppression>> {
  const select = (before?: string) => {
    const parameters = new Parameters();
    const where = [`s.project_id = ${parameters.add(projectId)}`];
    if (email != null) {
      const key = parameters.add(emailKey(email));
      where.push(`s.email_key IN (${key}, erased_key(s.project_id, ${key}))`);
    }
    if (reason != null) where.push(`s.reason = ${parameters.add(reason)}`);
    if (createdAfter != null) where.push(`s.created_at > ${parameters.add(createdAfter)}`);
    if (createdBefore != null) where.push(`s.created_at < ${parameters.add(createdBefore)}`);
    if (before !== undefined) where.push(`s.id < ${parameters.add(before)}`);
    return { from: `FROM suppressions s WHERE ${where.join(' AND ')}`, parameters };
  };
  const read = async ({ limit, before }: { limit: number; before: string | undefined }) => {
    const { from, parameters } = select(before);
    const text = `SELECT ${COLUMNS} ${from} ORDER BY s.id DESC LIMIT ${parameters.add(limit)}`;
    return (await pool.query<Suppression>(text, parameters.values)).rows;
  };
  return readPage('sup', page, read, (limit) => {
    const { from, parameters } = select();
    return countUpTo(limit, `SELECT 1 ${from}`, parameters.values);
  });
}

/** The project's suppressions with these ids, in any order; ids that do not exist are omitted. */
export async function findSuppressions(projectId: string, ids: readonly string[]): Promise<Suppression[]> {
  const query = `SELECT ${COLUMNS} FROM suppressions s WHERE s.project_id = $1 AND s.id = ANY ($2)`;
  return sql<Suppression>(pool, query, [projectId, ids]);
}

/** A suppression of the project, or `not_found`. */
export async function getSuppression(projectId: string, id: string): Promise<Suppression> {
  const [suppression] = isId('sup', id) ? await findSuppressions(projectId, [id]) : [];
  if (suppression === undefined) throw notFound('suppression');
  return suppression;
}

/**
 * Suppresses an address manually, even if it belongs to no contact. Returns an existing suppression unchanged.
 * @throws DomainError `validation_error` for a bad address.
 */
export async function addSuppression(
  projectId: string,
  input: { email: string; reason?: SuppressionReason | null | undefined },
  by: SuppressionActor = { origin: 'api' },
): Promise<{ suppression: Suppression; created: boolean }> {
  const email = input.email.trim();
  const problem = emailProblem(email);
  if (problem !== undefined) throw invalid({ field: 'email', message: problem });
  const reason = input.reason ?? 'manual';
  for (;;) {
    const [added] = await inTransaction((tx) => suppress(tx, projectId, [{ email, reason }], by));
    if (added !== undefined) return { suppression: added, created: true };
    const [existing] = await sql<Suppression>(
      pool,
      `SELECT ${COLUMNS} FROM suppressions s WHERE s.project_id = $1
         AND (s.email_key = $2 AND s.reason = $3::suppression_reason OR s.email_key = erased_key($1, $2))`,
      [projectId, emailKey(email), reason],
    );
    if (existing !== undefined) return { suppression: existing, created: false };
    // It was removed between the two statements; try again.
  }
}

/** Removes one reason from an address; `not_found` when the suppression is not in the project. */
export async function removeSuppression(projectId: string, id: string): Promise<void> {
  if (!isId('sup', id)) throw notFound('suppression');
  await inTransaction(async (tx) => {
    const [removed] = await sql<{ email_key: string; reason: SuppressionReason }>(
      tx,
      'DELETE FROM suppressions WHERE project_id = $1 AND id = $2 RETURNING email_key, reason',
      [projectId, id],
    );
    if (removed === undefined) throw notFound('suppression');
    if (removed.reason !== 'unsubscribed') return;
    await record(tx, projectId, (await contactsOf(tx, projectId, [removed.email_key])).map(contactSubscribed));
  });
}

/**
 * Adds suppressions in the caller's transaction and returns the new ones; called for unsubscribe links, bounces and
 * complaints. A contact whose address gains the reason `unsubscribed` records `contact.unsubscribed`. An erased address
 * stays suppressed by its hash and is not stored again.
 */
export async function suppress(
  tx: Tx,
  projectId: string,
  entries: readonly { email: string; reason: SuppressionReason }[],
  { origin, actorId }: SuppressionActor = { origin: 'api' },
): Promise<Suppression[]> {
  // Before the INSERT: if that waited for an erasure, its snapshot would be too old to see the hash of the erased address.
  await lockSuppressions(tx, projectId);
  const added = await sql<Suppression>(
    tx,
    `INSERT INTO suppressions AS s (id, project_id, email, email_key, reason, origin, added_by_id)
     SELECT e.id, $1, e.email, e.email_key, e.reason::suppression_reason, $6::suppression_origin, $7
       FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS e(id, email, email_key, reason)
      WHERE NOT EXISTS (SELECT FROM suppressions o WHERE o.project_id = $1 AND o.email_key = erased_key($1, e.email_key))
      ORDER BY e.email_key, e.reason
     ON CONFLICT (project_id, email_key, reason) DO NOTHING RETURNING ${COLUMNS}`,
    [
      projectId,
      entries.map(() => newId('sup')),
      entries.map(({ email }) => normalizeEmail(email)),
      entries.map(({ email }) => emailKey(email)),
      entries.map(({ reason }) => reason),
      origin,
      actorId ?? null,
    ],
  );
  const unsubscribed = added.filter(({ reason }) => reason === 'unsubscribed').map(({ email }) => emailKey(email));
  if (unsubscribed.length > 0) {
    const contacts = await contactsOf(tx, projectId, unsubscribed);
    await record(
      tx,
      projectId,
      contacts.map((contact) => contactUnsubscribed(contact, origin)),
    );
  }
  return added;
}

/** Removes the reason `unsubscribed` from an address and records `contact.subscribed` if it was set. */
export async function resubscribe(tx: Tx, projectId: string, email: string): Promise<void> {
  if (!(await clearUnsubscribed(tx, projectId, email))) return;
  await record(tx, projectId, (await contactsOf(tx, projectId, [emailKey(email)])).map(contactSubscribed));
}

/** Removes the reason `unsubscribed` from an address; the caller records `contact.subscribed`. @returns whether it was set. */
export async function clearUnsubscribed(tx: Tx, projectId: string, email: string): Promise<boolean> {
  const cleared = await sql(
    tx,
    `DELETE FROM suppressions WHERE project_id = $1 AND email_key = $2 AND reason = 'unsubscribed' RETURNING id`,
    [projectId, emailKey(email)],
  );
  return cleared.length > 0;
}

/**
 * Serializes writes of suppressions and new addresses in a project until the transaction ends. A transaction that
 * writes both takes this lock first, to prevent deadlocks.
 */
export async function lockSuppressions(tx: Tx, projectId: string): Promise<void> {
  await sql(tx, 'SELECT lock_suppressions($1)::text', [projectId]);
}

/**
 * Takes the lock of `lockSuppressions` in shared mode, so that no suppression is added until the transaction ends. Transactions that write
 * contacts take it before they lock contacts, to prevent deadlocks.
 */
export async function shareSuppressions(tx: Tx, projectId: string): Promise<void> {
  await sql(tx, 'SELECT share_suppressions($1)::text', [projectId]);
}

/** The suppressed addresses among these, as `emailKey` writes them. */
export async function findSuppressedKeys(tx: Tx, projectId: string, emails: readonly string[]): Promise<Set<string>> {
  if (emails.length === 0) return new Set();
  const rows = await sql<{ key: string }>(
    tx,
    `SELECT key FROM unnest($2::text[]) AS key WHERE EXISTS (
       SELECT FROM suppressions WHERE project_id = $1 AND email_key IN (key, erased_key($1, key)))`,
    [projectId, emails.map(emailKey)],
  );
  return new Set(rows.map(({ key }) => key));
}

/** Addresses in a text. One begins only where a word does, so a long word is read once. */
export const ADDRESSES = /(?<![^\s"(),:;<>[\\\]@])[^\s"(),:;<>[\\\]@]+@[^\s"(),:;<>[\\\]@]*[\p{L}\p{N}]/gu;

/** A text without addresses that were erased from the project before; no one is erased until the transaction ends. */
export async function withoutErased(tx: Tx, projectId: string, text: string): Promise<string> {
  const addresses = text.match(ADDRESSES) ?? [];
  if (addresses.length === 0) return text;
  await shareSuppressions(tx, projectId);
  const rows = await sql<{ key: string }>(
    tx,
    `SELECT key FROM unnest($2::text[]) AS key WHERE EXISTS (
       SELECT FROM suppressions WHERE project_id = $1 AND email_key = erased_key($1, key))`,
    [projectId, addresses.map(emailKey)],
  );
  const erased = new Set(rows.map(({ key }) => key));
  return text.replace(ADDRESSES, (address) => (erased.has(emailKey(address)) ? 'erased@erased.invalid' : address));
}

/** Whether an address is suppressed for any reason. */
export async function isSuppressed(tx: Tx, projectId: string, email: string): Promise<boolean> {
  return (await findSuppressedKeys(tx, projectId, [email])).size > 0;
}

function contactsOf(tx: Tx, projectId: string, emailKeys: string[]): Promise<ContactFacts[]> {
  return sql<ContactFacts>(
    tx,
    `SELECT ${FACTS_COLUMNS} FROM contacts c WHERE c.project_id = $1 AND c.email_key = ANY ($2) ORDER BY c.id`,
    [projectId, emailKeys],
  );
}
