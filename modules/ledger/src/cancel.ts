import { inTransaction } from '@postroom/platform';

/** Cancels planned transactional messages that match `where` (SQL with the parameter `$1`). @returns the number canceled. */
export async function cancelPlanned(where: string, value: string, reason: string): Promise<number> {
  const { rowCount } = await inTransaction((tx) =>
    tx.query(
      `UPDATE messages SET state = 'canceled', unsent_at = now(), dispatched_at = coalesce(dispatched_at, now()), workflow_id = NULL, answer = $2
       WHERE ${where} AND campaign_id IS NULL AND state = 'planned'`,
      [value, reason],
    ),
  );
  return rowCount ?? 0;
}
