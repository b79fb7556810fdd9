import { ledgerPool } from './ledger-pool.ts';
import { hasShards } from './sql.ts';

/** While recipients are counted, or a shard may return messages or die, messages that are due earlier may be added at any time. */
const OPEN_POLL_MS = 1_000;

/** How long until the next message of a campaign is due, in milliseconds: 0 if one is, null if none is planned. */
export async function msUntilNextDue(campaignId: string): Promise<number | null> {
  const { rows } = await ledgerPool.query<{ open: boolean; wait_ms: number | null }>(
    `SELECT c.frozen_at IS NULL OR ${hasShards('c')} AS open, CASE WHEN EXISTS (SELECT FROM messages m WHERE m.campaign_id = c.id AND m.id > c.cursor AND m.state = 'planned' AND m.not_before IS NULL) THEN 0
       ELSE (SELECT ceil(extract(epoch FROM min(m.not_before) - now()) * 1000)::float FROM messages m
         WHERE m.campaign_id = c.id AND m.not_before IS NOT NULL) END AS wait_ms
     FROM campaigns c WHERE c.id = $1`,
    [campaignId],
  );
  const { open, wait_ms: waitMs } = rows[0] ?? { open: false, wait_ms: null };
  return waitMs === null ? null : Math.min(open ? OPEN_POLL_MS : Infinity, Math.max(0, waitMs));
}
