import { suppress } from '@postroom/contacts';
import { emailKey, inTransaction, pool } from '@postroom/platform';
import { campaignNotice } from '@postroom/ledger';
import type { UnsubscribeToken } from './unsubscribe-link.ts';

/** Who follows a link, and what its page shows. */
export interface Unsubscriber {
  messageId: string;
  projectId: string;
  /** Null when it is no contact, or none any more. */
  contactId: string | null;
  email: string;
  /** The address that the contact has now. */
  currentEmail: string | null;
  /** What the sender is called, or the address it writes from. */
  sender: string;
  /** The colour of the project's pages. */
  brandColor: string | null;
}

/**
 * Whom a link is for; undefined when its project is gone. When the message has been deleted the link says it, and the contact is
 * who has that address, or had it last.
 */
export async function findUnsubscriber({ messageId, ...token }: UnsubscribeToken): Promise<Unsubscriber | undefined> {
  const { rows } = await pool.query<Unsubscriber>(FIND, [
    messageId,
    token.projectId,
    token.email,
    token.email === undefined ? null : emailKey(token.email),
  ]);
  return rows[0];
}

const FIND = `
  SELECT l.id AS "messageId", p.id AS "projectId", l.email, l.contact_id AS "contactId",
    (SELECT o.email FROM contacts o WHERE o.id = l.contact_id) AS "currentEmail",
    coalesce(nullif(c.from_name, ''), c.from_email, p.name) AS sender, p.brand_color AS "brandColor"
  FROM (
    SELECT m.id, coalesce($3::text, m.email) AS email, m.project_id, m.campaign_id, m.contact_id FROM messages m WHERE m.id = $1
    UNION ALL
    SELECT $1, $3::text, $2::text, NULL, coalesce(
      (SELECT o.id FROM contacts o WHERE o.project_id = $2 AND o.email_key = $4),
      (SELECT a.contact_id FROM contact_addresses a JOIN contacts o ON o.id = a.contact_id
        WHERE a.project_id = $2 AND a.email_key = $4 ORDER BY a.changed_at DESC LIMIT 1))
    WHERE $3 IS NOT NULL AND NOT EXISTS (SELECT FROM messages WHERE id = $1)
  ) AS l JOIN projects p ON p.id = l.project_id LEFT JOIN campaigns c ON c.id = l.campaign_id`;

/**
 * Unsubscribes the recipient of a message from the campaigns of its project (spec: Contact subscription): the address is
 * suppressed, and so is the one that the same contact has now; the campaign counts it once, unless the message has been deleted.
 * Doing it again changes nothing.
 */
export async function unsubscribe({ messageId, projectId, email, currentEmail }: Unsubscriber): Promise<void> {
  await inTransaction(async (client) => {
    const { rows } = await client.query<{ campaign_id: string | null; first: boolean }>(
      'SELECT campaign_id, unsubscribed_at IS NULL AS first FROM messages WHERE id = $1 FOR NO KEY UPDATE',
      [messageId],
    );
    const campaignId = rows[0]?.campaign_id ?? null;
    if (rows[0]?.first === true) {
      await client.query('UPDATE messages SET unsubscribed_at = now() WHERE id = $1', [messageId]);
      await client.query(`UPDATE campaigns SET unsubscribed_count = unsubscribed_count + 1 WHERE id = $1`, [
        campaignId,
      ]);
    }
    const emails = new Map([email, currentEmail ?? email].map((each) => [emailKey(each), each]));
    await suppress(
      client,
      projectId,
      [...emails.values()].map((each) => ({ email: each, reason: 'unsubscribed' })),
    );
    const notice = campaignId === null ? '' : campaignNotice(campaignId);
    if (notice !== '') await client.query("SELECT pg_notify('postroom', $1)", [notice]);
  });
}
