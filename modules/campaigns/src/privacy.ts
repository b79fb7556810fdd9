import { closeUnsent } from '@postroom/ledger/sql';
import type { ErasedRows, Erasure, PrivacyStage, Tx } from '@postroom/platform';
import { messageKeySql, redaction, redactionValues, sql } from '@postroom/platform';
import { addToCampaignCounts } from './sql.ts';

export const stage: PrivacyStage = 'campaigns';

const PLANNED = `m.project_id = $1 AND (${messageKeySql('m')} = ANY ($2) OR m.contact_id = $3) AND m.campaign_id IS NOT NULL AND m.state = 'planned'`;

/** The conditions of segments, while the recipients of a campaign are being written. */
const { set, mentions } = redaction({ snapshot_audience: 'jsonb' });
const REDACT = `UPDATE campaigns SET ${set} WHERE project_id = $1 AND snapshot_audience IS NOT NULL AND ${mentions}`;

/**
 * Suppresses the person's planned messages in running campaigns and updates their counters. Locks the campaigns first, so that
 * no send run claims one of these messages meanwhile.
 */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  const { projectId, keys, contactId } = subject;
  const values = [projectId, keys, contactId];
  await sql(
    tx,
    `SELECT FROM campaigns WHERE id IN (SELECT m.campaign_id FROM messages m WHERE ${PLANNED})
       OR project_id = $1 AND snapshot_audience IS NOT NULL ORDER BY id FOR NO KEY UPDATE`,
    values,
  );
  await sql(tx, REDACT, redactionValues(subject));
  const withdrawn = await sql<{ campaign_id: string }>(
    tx,
    `${closeUnsent('suppressed', "'Not sent: the person was erased.'")} WHERE ${PLANNED} RETURNING m.campaign_id`,
    values,
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
