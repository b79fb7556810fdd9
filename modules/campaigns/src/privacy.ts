import { MESSAGES_OF_PERSON } from '@postroom/ledger';
import { closeUnsent } from '@postroom/ledger/sql';
import type { ErasedRows, Erasure, PrivacyStage, Tx } from '@postroom/platform';
import { sql } from '@postroom/platform';
import { redaction, redactionValues } from '@postroom/redaction';
import { addToCampaignCounts } from './sql.ts';

export const stage: PrivacyStage = 'campaigns';

const PLANNED = `
  SELECT m.id, m.campaign_id AS "campaignId" FROM messages m
  WHERE m.id = ANY (ARRAY(${MESSAGES_OF_PERSON})) AND m.campaign_id IS NOT NULL AND m.state = 'planned'`;

/** The conditions of segments, while the recipients of a campaign are being written. */
const { set, mentions } = redaction({ snapshot_audience: 'jsonb' });
const REDACT = `UPDATE campaigns SET ${set} WHERE project_id = $1 AND snapshot_audience IS NOT NULL AND ${mentions}`;

/**
 * Suppresses the person's planned messages in running campaigns and updates their counters. Locks the campaigns first, so that
 * no send run claims one of these messages meanwhile.
 */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  const { projectId, keys, contactId } = subject;
  const readPlanned = () => sql<{ id: string; campaignId: string }>(tx, PLANNED, [projectId, keys, contactId]);
  const campaigns = (await readPlanned()).map(({ campaignId }) => campaignId);
  await sql(
    tx,
    `SELECT FROM campaigns WHERE id = ANY ($2) OR project_id = $1 AND snapshot_audience IS NOT NULL ORDER BY id FOR NO KEY UPDATE`,
    [projectId, campaigns],
  );
  await sql(tx, REDACT, redactionValues(subject));
  const planned = (await readPlanned()).map(({ id }) => id);
  const withdrawn = await sql<{ campaign_id: string }>(
    tx,
    `${closeUnsent('suppressed', "'Not sent: the person was erased.'")} WHERE m.id = ANY ($1) AND m.state = 'planned'
     RETURNING m.campaign_id`,
    [planned],
  );
  await sql(
    tx,
    addToCampaignCounts(
      { suppressed: 'w.count' },
      'FROM (SELECT id, count(*)::int FROM unnest($1::text[]) AS id GROUP BY id) AS w WHERE c.id = w.id',
    ),
    [withdrawn.map((row) => row.campaign_id)],
  );
  return { canceled: withdrawn.length };
}
