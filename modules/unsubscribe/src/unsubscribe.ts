import { addToCampaignCounts } from '@postroom/campaigns/sql';
import { lockSuppressions, resubscribe, suppress } from '@postroom/contacts';
import { emailKey, pool, sql, type Tx } from '@postroom/platform';
import { campaignNotice } from '@postroom/ledger';
import { MARK_RESUBSCRIBED, MARK_UNSUBSCRIBED } from '@postroom/ledger/sql';
import { inVisitorTransaction } from '@postroom/projects';
import type { UnsubscribeToken } from './unsubscribe-link.ts';

/** The recipient whose link was opened, and what the page shows. */
export interface Unsubscriber {
  messageId: string;
  projectId: string;
  /** Null if the recipient is not, or no longer, a contact. */
  contactId: string | null;
  email: string;
  /** The contact's current address. */
  currentEmail: string | null;
  /** The display name of the sender, or its address. */
  sender: string;
  /** The project's brand color. */
  brandColor: string | null;
  /** The hash of the project's logo. */
  logoHash: string | null;
  /** The project's postal address, in lines. */
  postalAddress: string | null;
}

/**
 * Finds the recipient of a link; undefined if the project has been deleted. If the message has been deleted, the address
 * comes from the link, and the contact is the one that has it now or had it last.
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
    coalesce(nullif(c.from_name, ''), c.from_email, p.name) AS sender, p.brand_color AS "brandColor", p.logo_hash AS "logoHash",
    p.postal_address AS "postalAddress"
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
 * Unsubscribes the recipient of a message from the project's campaigns (spec: Contact subscription). It suppresses the
 * address and the contact's current one. The campaign counts it once, unless the message has been deleted. Idempotent.
 */
export async function unsubscribe({ messageId, projectId, email, contactId }: Unsubscriber): Promise<void> {
  await inVisitorTransaction(projectId, async (client) => {
    const { rows } = await client.query<{ campaign_id: string | null; first: boolean }>(
      'SELECT campaign_id, unsubscribed_at IS NULL AS first FROM messages WHERE id = $1 FOR NO KEY UPDATE',
      [messageId],
    );
    const campaignId = rows[0]?.campaign_id ?? null;
    if (rows.length > 0) await client.query(`${MARK_UNSUBSCRIBED} AND m.id = $1`, [messageId]);
    if (rows[0]?.first === true)
      await client.query(addToCampaignCounts({ unsubscribed: '1' }, 'WHERE c.id = $1'), [campaignId]);
    const addresses = await lockAddresses(client, { projectId, email, contactId });
    await suppress(
      client,
      projectId,
      addresses.map((each) => ({ email: each, reason: 'unsubscribed' })),
      { origin: 'recipient' },
    );
    const notice = campaignId === null ? '' : campaignNotice(campaignId);
    if (notice !== '') await client.query("SELECT pg_notify('postroom', $1)", [notice]);
  });
}

/** Whether the recipient is unsubscribed and may undo it here. */
export async function isUnsubscribed({ projectId, email, currentEmail }: Unsubscriber): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM suppressions WHERE project_id = $1 AND email_key = ANY ($2) AND reason = 'unsubscribed' LIMIT 1`,
    [projectId, addressesOf({ email, currentEmail }).map(emailKey)],
  );
  return rowCount === 1;
}

/**
 * Undoes `unsubscribe`. Other reasons for which an address is suppressed stay. The campaign goes on counting the recipient, and
 * its history shows both. Idempotent.
 */
export async function subscribeAgain({ messageId, projectId, email, contactId }: Unsubscriber): Promise<void> {
  await inVisitorTransaction(projectId, async (client) => {
    await client.query(`${MARK_RESUBSCRIBED} AND m.id = $1`, [messageId]);
    for (const each of await lockAddresses(client, { projectId, email, contactId }))
      await resubscribe(client, projectId, each);
  });
}

/** The addresses of the recipient. They can't change until the transaction ends, because changing one takes the same lock. */
async function lockAddresses(
  tx: Tx,
  { projectId, email, contactId }: Pick<Unsubscriber, 'projectId' | 'email' | 'contactId'>,
): Promise<string[]> {
  await lockSuppressions(tx, projectId);
  const [contact] = await sql<{ email: string }>(tx, 'SELECT email FROM contacts WHERE id = $1', [contactId]);
  return addressesOf({ email, currentEmail: contact?.email ?? null });
}

/** The address that the message went to, and the contact's current one if it is another; in one order, against deadlocks. */
function addressesOf({ email, currentEmail }: Pick<Unsubscriber, 'email' | 'currentEmail'>): string[] {
  const addresses = new Map([email, currentEmail ?? email].map((each) => [emailKey(each), each]));
  return [...addresses.keys()].toSorted().map((key) => addresses.get(key)!);
}
