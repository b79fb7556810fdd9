import { closeUnsent } from '@postroom/ledger/sql';
import { type ErasedRows, type Erasure, messageKeySql, type PrivacyStage, sql, type Tx } from '@postroom/platform';
import { addToCampaignCounts } from './sql.ts';

export const stage: PrivacyStage = 'campaigns';

const PLANNED = `m.project_id = $1 AND (${messageKeySql('m')} = ANY ($2) OR m.contact_id = $3) AND m.campaign_id IS NOT NULL AND m.state = 'planned'`;

/**
 * Suppresses the person's planned messages in running campaigns and updates their counters. Locks the campaigns first, so that
 * no send run claims one of these messages meanwhile.
 */
export async function eraseSubject(tx: Tx, { projectId, keys, contactId }: Erasure): Promise<ErasedRows> {
  const values = [projectId, keys, contactId];
  await sql(
    tx,
    `SELECT FROM campaigns WHERE id IN (SELECT m.campaign_id FROM messages m WHERE ${PLANNED}) ORDER BY id FOR NO KEY UPDATE`,
    values,
  );
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
