import { type ErasedRows, type Erasure, type PrivacyStage, sql, type Tx } from '@postroom/platform';
import { redaction, redactionValues } from '@postroom/redaction';

export const stage: PrivacyStage = 'references';

const OPERATION = redaction({ filter: 'jsonb', group_name: 'text', error: 'text' });

/** Removes the person's addresses from the filters of bulk operations. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  await sql(
    tx,
    `UPDATE bulk_operations SET ${OPERATION.set} WHERE project_id = $1 AND ${OPERATION.mentions}`,
    redactionValues(subject),
  );
  return {};
}
