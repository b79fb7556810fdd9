import { Parameters } from '@postroom/contacts';
import { mailboxIdFor } from '@postroom/transports';
import { inTransaction, record } from '@postroom/platform';
import type pg from 'pg';
import { audienceSql, joinBySets } from './audience.ts';
import { campaignStarted } from './events.ts';

interface Row {
  id: string;
  project_id: string;
  name: string;
  from_email: string | null;
  group_ids: string[];
  segment_ids: string[];
  status: string;
  frozen_at: Date | null;
}

/** How many people a campaign goes to, and how many of them are suppressed. */
export interface RecipientSnapshot {
  recipients: number;
  suppressed: number;
}

/**
 * Writes a campaign's recipients into the ledger, once: one row for each contact of its audience, suppressed ones marked so,
 * in one statement. Doing it again, after a crash for instance, changes nothing.
 */
export async function snapshotRecipients(campaignId: string): Promise<RecipientSnapshot> {
  return inTransaction(async (client) => {
    // Another attempt may be at it. The campaign's own row stays free meanwhile, so that it can be paused or canceled.
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 2))', [campaignId]);
    const { rows } = await client.query<Row>(
      'SELECT id, project_id, name, from_email, group_ids, segment_ids, status::text, frozen_at FROM campaigns WHERE id = $1',
      [campaignId],
    );
    const [campaign] = rows;
    if (campaign === undefined) return { recipients: 0, suppressed: 0 };
    // One that was canceled before it had recipients never has any, and never started.
    if (campaign.frozen_at !== null || campaign.status === 'canceled') return countsOf(client, campaignId);
    const frozen = await insertMessages(client, campaign);
    await client.query(
      `UPDATE campaigns SET frozen_at = now(), recipient_count = $2, suppressed_count = $3 WHERE id = $1`,
      [campaignId, frozen.recipients, frozen.suppressed],
    );
    await record(client, campaign.project_id, [campaignStarted(campaign, frozen.recipients)]);
    return frozen;
  });
}

async function insertMessages(
  client: pg.ClientBase,
  { id, project_id: projectId, from_email: fromEmail, ...audience }: Row,
): Promise<RecipientSnapshot> {
  const parameters = new Parameters();
  const project = parameters.add(projectId);
  const campaign = parameters.add(id);
  const mailbox = parameters.add(await mailboxIdFor(projectId, fromEmail ?? ''));
  const condition = await audienceSql(
    projectId,
    { groupIds: audience.group_ids, segmentIds: audience.segment_ids },
    parameters,
  );
  await joinBySets(client);
  const { rowCount } = await client.query(
    `INSERT INTO messages (id, project_id, campaign_id, mailbox_id, contact_id, email, email_key, state, answer, unsent_at)
     SELECT ${ID}, c.project_id, ${campaign}, ${mailbox}, c.id, c.email, ${STORED_KEY},
       CASE WHEN c.suppressed THEN 'suppressed' ELSE 'planned' END::message_state,
       CASE WHEN c.suppressed THEN ${SUPPRESSED_ANSWER} END, CASE WHEN c.suppressed THEN now() END
     FROM contacts c WHERE c.project_id = ${project} AND ${condition} ORDER BY c.id`,
    parameters.values,
  );
  const { rows } = await client.query<{ suppressed: number }>(
    'SELECT count(*)::int AS suppressed FROM messages WHERE campaign_id = $1 AND unsent_at IS NOT NULL',
    [id],
  );
  return { recipients: rowCount ?? 0, suppressed: rows[0]?.suppressed ?? 0 };
}

/**
 * An id for each row, in the order of the contacts. To make each by `postroom_id` takes two fifths of a freeze; here one
 * gives the time, and the other twelve digits, hexadecimal ones, are 28 bits that count and 20 that are random.
 */
const ID = `(SELECT left(postroom_id('eml'), 18)) ||
  lpad(to_hex((row_number() OVER (ORDER BY c.id) << 20) + floor(random() * 1048576)::bigint), 12, '0')`;

/** As `storedEmailKey` has it. */
const STORED_KEY = `nullif(c.email_key, lower(c.email COLLATE "C"))`;

const SUPPRESSED_ANSWER = `'Not sent: the address is suppressed (' || coalesce((SELECT min(s.reason)::text FROM suppressions s
  WHERE s.project_id = c.project_id AND s.email_key = c.email_key), '') || ').'`;

async function countsOf(client: pg.ClientBase, campaignId: string): Promise<RecipientSnapshot> {
  const { rows } = await client.query<RecipientSnapshot>(
    'SELECT recipient_count AS recipients, suppressed_count AS suppressed FROM campaigns WHERE id = $1',
    [campaignId],
  );
  return rows[0] ?? { recipients: 0, suppressed: 0 };
}
