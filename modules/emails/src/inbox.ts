import { rowWithId } from '@postroom/partitions/sql';
import {
  config,
  databaseNow,
  databaseTime,
  deleteInBatches,
  DomainError,
  emailKey,
  isId,
  pool,
} from '@postroom/platform';
import type pg from 'pg';

/** A mail in the list. */
export interface Mail {
  id: string;
  messageId: string | null;
  mailFrom: string;
  recipient: string;
  sender: string;
  subject: string;
  /** Size in bytes. */
  size: number;
  receivedAt: Date;
}

export interface MailsFilter {
  /** Full address, case-insensitive. */
  recipient?: string | undefined;
  /** Words that occur in the subject, an address or the Message-ID. */
  search?: string | undefined;
}

export interface MailsQuery extends MailsFilter {
  /** 1 to 1000; defaults to 50. */
  limit?: number | undefined;
  /** Only mails older than the one with this id. */
  before?: string | undefined;
}

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 1000;

const noSuchMail = () => new DomainError('not_found', 'Mail not found.');

const COLUMNS = `id, message_id AS "messageId", mail_from AS "mailFrom", recipient, sender, subject, size, received_at AS "receivedAt"`;

/** The condition of a filter; its parameters are $1 and $2. */
const FITS = `($1::text IS NULL OR recipient = $1)
  AND ($2::text[] = '{}' OR concat_ws(' ', subject, sender, recipient, mail_from, message_id) ILIKE ALL ($2))`;

function filterValues({ recipient, search = '' }: MailsFilter): [string | null, string[]] {
  const words = search.split(/\s+/).filter((word) => word !== '');
  return [recipient == null ? null : emailKey(recipient), words.map(likePattern)];
}

/** The newest matching mails, and whether there are more. */
export async function listMails({
  limit = DEFAULT_LIMIT,
  before,
  ...filter
}: MailsQuery): Promise<{ mails: Mail[]; hasMore: boolean }> {
  const { rows } = await pool.query<Mail>(
    `SELECT ${COLUMNS} FROM inbox_mails WHERE ${FITS} AND ($3::text IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`,
    [...filterValues(filter), before ?? null, limit + 1],
  );
  return { mails: rows.slice(0, limit), hasMore: rows.length > limit };
}

const likePattern = (word: string) => `%${word.replace(/[\\%_]/g, '\\$&')}%`;

/** A mail as received over SMTP. @throws DomainError `not_found` */
export async function getSource(id: string): Promise<Mail & { raw: Buffer }> {
  const { rows } = await pool.query<Mail & { raw: Buffer }>(`SELECT ${COLUMNS}, raw FROM inbox_mails WHERE id = $1`, [
    id,
  ]);
  if (!isId('mai', id) || rows[0] === undefined) throw noSuchMail();
  return rows[0];
}

/** A mail to store: one row per recipient. */
export interface NewMail extends Omit<Mail, 'receivedAt'> {
  /** Where its message begins in the bytes of the batch, from 1. */
  start: number;
}

/** A simulated report of a provider. */
export interface NewReport {
  messageId: string;
  recipient: string;
  kind: string;
  detail?: string | undefined;
}

/** Inserts the mails and their pending reports in one statement, and thus one transaction. */
const STORE = `
  WITH kept AS (
    INSERT INTO inbox_mails (id, message_id, mail_from, recipient, sender, subject, size, raw, received_at)
    SELECT id, message_id, mail_from, recipient, sender, subject, size, substring($8::bytea FROM start FOR size), $10
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $9::int[])
      AS mail(id, message_id, mail_from, recipient, sender, subject, size, start)
  )
  INSERT INTO inbox_reports (message_id, recipient, kind, detail, at)
  SELECT message_id, recipient, kind, detail, $10
  FROM unnest($11::text[], $12::text[], $13::text[], $14::text[]) AS report(message_id, recipient, kind, detail)`;

/** Stores a batch of mails whose messages follow one another in `raw`, and the reports to make of them. */
export async function insertMails(
  mails: readonly NewMail[],
  raw: Buffer,
  reports: readonly NewReport[],
): Promise<void> {
  await pool.query({
    name: 'inbox-store',
    text: STORE,
    values: [
      mails.map((mail) => mail.id),
      mails.map((mail) => mail.messageId),
      mails.map((mail) => mail.mailFrom),
      mails.map((mail) => mail.recipient),
      mails.map((mail) => mail.sender),
      mails.map((mail) => mail.subject),
      mails.map((mail) => mail.size),
      // All bodies are sent as one binary value and split by the server: an array would be sent as text.
      raw,
      mails.map((mail) => mail.start),
      databaseTime(),
      reports.map((report) => report.messageId),
      reports.map((report) => report.recipient),
      reports.map((report) => report.kind),
      reports.map((report) => report.detail ?? null),
    ],
  });
}

/** Skips rows taken by another inbox. */
const TAKE_REPORTS = `
  DELETE FROM inbox_reports WHERE id IN (
    SELECT id FROM inbox_reports r
    WHERE r.at < now() - $2 * interval '1 ms' OR NOT EXISTS ${rowWithId('messages', 'm', 'r.message_id', "AND m.state = 'claimed'")}
    ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING message_id AS "messageId", recipient, kind, detail, at`;

/**
 * Takes up to `limit` pending reports in the caller's transaction: those whose messages are settled, so that `email.sent` comes first, and those
 * that have waited for `maxWaitMs`.
 */
export async function takeReports<Report extends pg.QueryResultRow>(
  client: pg.ClientBase,
  limit: number,
  maxWaitMs: number,
): Promise<Report[]> {
  const { rows } = await client.query<Report>({
    name: 'inbox-take-reports',
    text: TAKE_REPORTS,
    values: [limit, maxWaitMs],
  });
  return rows;
}

/** Whether any report is pending. */
export async function hasReports(): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT FROM inbox_reports LIMIT 1');
  return rowCount === 1;
}

/** @throws DomainError `not_found` */
export async function deleteMail(id: string): Promise<void> {
  const { rowCount } = await pool.query('DELETE FROM inbox_mails WHERE id = $1', [id]);
  if (rowCount === 0) throw noSuchMail();
}

/** Deletes every mail; returns the count. */
export async function deleteMails(): Promise<number> {
  const { rowCount } = await pool.query('DELETE FROM inbox_mails');
  return rowCount ?? 0;
}

export interface Stats {
  mails: number;
  uniqueRecipients: number;
  /** Mails whose recipient already has one with the same Message-ID. */
  duplicates: number;
  bytes: number;
}

/** Counts the matching mails. */
export async function countMails(filter: MailsFilter = {}): Promise<Stats> {
  const { rows } = await pool.query<Stats>(
    `SELECT count(*)::int AS mails, count(DISTINCT recipient)::int AS "uniqueRecipients", coalesce(sum(size), 0)::float8 AS bytes,
       (count(message_id) - count(DISTINCT (message_id, recipient)) FILTER (WHERE message_id IS NOT NULL))::int AS duplicates
     FROM inbox_mails WHERE ${FITS}`,
    filterValues(filter),
  );
  return rows[0]!;
}

/** The most mails deleted per statement. */
const DELETE_BATCH = 500;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Deletes mail of the development inbox that is older than the event retention. */
export function deleteOldInboxMails(onBatch?: () => void): Promise<number> {
  return deleteInBatches(
    `DELETE FROM inbox_mails WHERE id IN (SELECT id FROM inbox_mails WHERE received_at < $1 LIMIT ${DELETE_BATCH} FOR UPDATE SKIP LOCKED)`,
    [new Date(databaseNow() - config.RETENTION_DAYS * DAY_MS)],
    { batch: DELETE_BATCH, ...(onBatch && { onBatch }) },
  );
}
