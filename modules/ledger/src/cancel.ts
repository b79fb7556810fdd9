import { addToCampaignCounts } from '@postroom/campaigns/sql';
import { inTransaction, sql, type Tx } from '@postroom/platform';
import { ledgerPool } from './ledger-pool.ts';
import { closeUnsent } from './sql.ts';

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

/** Cancels the planned messages of one page and updates the campaign's counter in the same statement. */
const CANCEL_PAGE = `
  WITH page AS (
    SELECT id, state FROM messages WHERE campaign_id = $1 AND id > $2 ORDER BY id LIMIT 10000
  ), canceled AS (
    ${closeUnsent('canceled', "'The campaign was canceled.'")}
    WHERE m.id = ANY (ARRAY(SELECT id FROM page WHERE state = 'planned')) AND m.state = 'planned' RETURNING m.id
  ), counters AS (
    ${addToCampaignCounts({ canceled: '(SELECT count(*) FROM canceled)' }, 'WHERE c.id = $1')}
  ) SELECT max(id) AS last FROM page`;

/** Cancels the planned messages of a campaign, which must be canceled itself; those in flight keep their outcome. */
export async function cancelCampaignMessages(campaignId: string, onPage: () => void = () => {}): Promise<void> {
  for (let after: string | null = ''; after !== null; onPage()) {
    const { rows }: { rows: { last: string | null }[] } = await ledgerPool.query(CANCEL_PAGE, [campaignId, after]);
    after = rows[0]?.last ?? null;
  }
}
