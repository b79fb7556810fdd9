import { type ErasedRows, type Erasure, type PrivacyStage, sql, type Tx } from '@postroom/platform';
import { redaction, redactionValues } from '@postroom/redaction';

export const stage: PrivacyStage = 'references';

const BACKTEST = redaction({ candidate: 'jsonb', baseline: 'jsonb', error: 'text' });

/** Deletes the person's simulated runs, and replaces their addresses in definitions. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  await sql(tx, 'DELETE FROM backtest_contacts WHERE contact_id = $1', [subject.contactId]);
  await sql(
    tx,
    `UPDATE backtests SET ${BACKTEST.set} WHERE project_id = $1 AND ${BACKTEST.mentions}`,
    redactionValues(subject),
  );
  return {};
}
