import { inTransaction, sql, type Tx } from '@postroom/platform';

/**
 * Cancels planned transactional messages that match `where` (SQL with the parameter `$1`), in the caller's transaction if there is
 * one. @returns the number canceled.
 */
export async function cancelPlanned(where: string, value: string, reason: string, tx?: Tx): Promise<number> {
  // Locked in the order in which `rescheduleMessages` does, against deadlocks.
  const text = `UPDATE messages SET state = 'canceled', unsent_at = now(), dispatched_at = coalesce(dispatched_at, now()), workflow_id = NULL, answer = $2
    WHERE id = ANY (ARRAY(
      SELECT id FROM messages WHERE ${where} AND campaign_id IS NULL AND state = 'planned' ORDER BY id FOR NO KEY UPDATE
    )) RETURNING id`;
  const cancel = (within: Tx) => sql(within, text, [value, reason]);
  return (await (tx === undefined ? inTransaction(cancel) : cancel(tx))).length;
}
