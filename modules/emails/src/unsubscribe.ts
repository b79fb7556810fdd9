import { suppress } from '@postroom/contacts';
import { inTransaction, pool } from '@postroom/platform';
import { campaignNotice } from './campaign-notice.ts';

/** What the page shows of the message that a link is for. */
export interface Unsubscriber {
  messageId: string;
  email: string;
  /** What the sender is called, or the address it writes from. */
  sender: string;
  /** The colour of the project's pages. */
  brandColor: string | null;
}

/** The message that a link names, for its page; undefined when it is gone. */
export async function findUnsubscriber(messageId: string): Promise<Unsubscriber | undefined> {
  const { rows } = await pool.query<Unsubscriber>(
    `SELECT m.id AS "messageId", m.email, coalesce(nullif(c.from_name, ''), c.from_email, p.name) AS sender,
       p.brand_color AS "brandColor"
     FROM messages m JOIN projects p ON p.id = m.project_id LEFT JOIN campaigns c ON c.id = m.campaign_id WHERE m.id = $1`,
    [messageId],
  );
  return rows[0];
}

/**
 * Unsubscribes the recipient of a message from the campaigns of its project (spec: Contact subscription): the address is
 * suppressed, and the campaign counts it once. Doing it again changes nothing.
 */
export async function unsubscribe(messageId: string): Promise<void> {
  await inTransaction(async (client) => {
    const { rows } = await client.query<{
      project_id: string;
      campaign_id: string | null;
      email: string;
      first: boolean;
    }>(
      'SELECT project_id, campaign_id, email, unsubscribed_at IS NULL AS first FROM messages WHERE id = $1 FOR NO KEY UPDATE',
      [messageId],
    );
    const [message] = rows;
    if (message === undefined) return;
    if (message.first) {
      await client.query('UPDATE messages SET unsubscribed_at = now() WHERE id = $1', [messageId]);
      await client.query(`UPDATE campaigns SET unsubscribed_count = unsubscribed_count + 1 WHERE id = $1`, [
        message.campaign_id,
      ]);
    }
    await suppress(client, message.project_id, [{ email: message.email, reason: 'unsubscribed' }]);
    const notice = message.campaign_id === null ? '' : campaignNotice(message.campaign_id);
    if (notice !== '') await client.query("SELECT pg_notify('postroom', $1)", [notice]);
  });
}
