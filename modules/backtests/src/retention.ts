import { deleteInBatches } from '@postroom/platform';

/** Days for which a backtest is kept. */
const KEPT_DAYS = 30;
const BATCH = 5_000;

const EXPIRED = `SELECT id FROM backtests WHERE finished_at < now() - interval '${KEPT_DAYS} days'`;
const DELETE_CONTACTS = `
  DELETE FROM backtest_contacts WHERE id IN (SELECT id FROM backtest_contacts WHERE backtest_id IN (${EXPIRED}) LIMIT ${BATCH})`;
const DELETE = `DELETE FROM backtests WHERE id IN (${EXPIRED} LIMIT ${BATCH})`;

/** Deletes backtests that ended long ago. @returns the number of backtests. */
export async function deleteOld({ onBatch }: { onBatch: () => void }): Promise<Record<string, number>> {
  await deleteInBatches(DELETE_CONTACTS, [], { batch: BATCH, onBatch });
  return { backtests: await deleteInBatches(DELETE, [], { batch: BATCH, onBatch }) };
}
