import { DomainError, emailKey, isId, pool } from '@postroom/platform';
import PostalMime, { type Email } from 'postal-mime';

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

/** A parsed mail. @throws DomainError `not_found` */
export async function getMail(id: string): Promise<{ mail: Mail; email: Email }> {
  const { raw, ...mail } = await getSource(id);
  return { mail, email: await PostalMime.parse(raw) };
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
