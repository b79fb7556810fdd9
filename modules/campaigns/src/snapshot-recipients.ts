import { Parameters } from '@postroom/contacts';
import { mailboxIdFor } from '@postroom/transports';
import { insertRecipients } from '@postroom/ledger/sql';
import { DomainError, inTransaction, record } from '@postroom/platform';
import type pg from 'pg';
import { audienceProblems, audienceSql, joinBySets } from './audience.ts';
import { campaignStarted } from './events.ts';

interface Row {
  id: string;
  project_id: string;
  name: string;
  from_email: string | null;
  groupIds: string[];
  segmentIds: string[];
  excludedGroupIds: string[];
  excludedSegmentIds: string[];
  status: string;
  frozen_at: Date | null;
}

/** How many recipients a campaign has, including suppressed ones, and how many are suppressed. */
export interface RecipientSnapshot {
  recipients: number;
  suppressed: number;
}

/**
 * Writes one message per contact of the audience into the ledger, in one statement; suppressed contacts are marked as such.
 * Idempotent: a retry after a crash changes nothing. Records `campaign.started`.
 */
export async function snapshotRecipients(campaignId: string): Promise<RecipientSnapshot> {
  return inTransaction(async (client) => {
    // Serializes attempts without locking the campaign's row, which must stay free for pause and cancel.
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 2))', [campaignId]);
    const { rows } = await client.query<Row>(
      `SELECT id, project_id, name, from_email, status::text, frozen_at, group_ids AS "groupIds", segment_ids AS "segmentIds",
         excluded_group_ids AS "excludedGroupIds", excluded_segment_ids AS "excludedSegmentIds" FROM campaigns WHERE id = $1`,
      [campaignId],
    );
    const [campaign] = rows;
    if (campaign === undefined) return { recipients: 0, suppressed: 0 };
    // A campaign canceled before its snapshot never gets recipients and never counts as started.
    if (campaign.frozen_at !== null || campaign.status === 'canceled') return countsOf(client, campaignId);
    const snapshot = await insertMessages(client, campaign);
    await client.query(
      `UPDATE campaigns SET frozen_at = now(), recipient_count = $2, suppressed_count = $3 WHERE id = $1`,
      [campaignId, snapshot.recipients, snapshot.suppressed],
    );
    await record(client, campaign.project_id, [campaignStarted(campaign, snapshot.recipients)]);
    return snapshot;
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
  // An exclusion deleted since the start would exclude nobody. The activity fails, and the campaign is paused with this reason.
  const gone = (await audienceProblems(client, projectId, audience)).find(({ field }) => field.startsWith('excluded'));
  if (gone !== undefined)
    throw new DomainError('validation_error', `An excluded audience was deleted: ${gone.message}.`);
  const condition = await audienceSql(projectId, audience, parameters);
  await joinBySets(client);
  const { rowCount } = await client.query(
    insertRecipients(`SELECT ${ID}, c.project_id, ${campaign}, ${mailbox}, c.id, c.email, ${STORED_KEY},
       CASE WHEN c.suppressed THEN 'suppressed' ELSE 'planned' END::message_state,
       CASE WHEN c.suppressed THEN ${SUPPRESSED_ANSWER} END, CASE WHEN c.suppressed THEN now() END
     FROM contacts c WHERE c.project_id = ${project} AND ${condition} ORDER BY c.id`),
    parameters.values,
  );
  const { rows } = await client.query<{ suppressed: number }>(
    'SELECT count(*)::int AS suppressed FROM messages WHERE campaign_id = $1 AND unsent_at IS NOT NULL',
    [id],
  );
  return { recipients: rowCount ?? 0, suppressed: rows[0]?.suppressed ?? 0 };
}

/**
 * A message id per row, in contact order. Calling `postroom_id` per row took 40 % of the snapshot. Instead, one call supplies the
 * time prefix; the last twelve hex digits are a 28-bit row number and 20 random bits.
 */
const ID = `(SELECT left(postroom_id('eml'), 18)) ||
  lpad(to_hex((row_number() OVER (ORDER BY c.id) << 20) + floor(random() * 1048576)::bigint), 12, '0')`;

/** The same rule as `storedEmailKey`. */
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
