import { batchLoader, pool } from '@postroom/platform';

/** Messages of a campaign that a server deferred and that will be retried. */
export interface Deferred {
  messages: number;
  /** When the first of them is due. */
  nextRetryAt: Date;
}

/** The deferred messages of campaigns that have any; found by the partial index on `not_before`. */
export const loadDeferred = batchLoader(async (_request: object, campaignIds) => {
  const { rows } = await pool.query<Deferred & { id: string }>(
    `SELECT campaign_id AS id, count(*)::int AS messages, min(not_before) AS "nextRetryAt" FROM messages
     WHERE campaign_id = ANY ($1) AND not_before IS NOT NULL AND state = 'planned' AND deferrals > 0 GROUP BY campaign_id`,
    [campaignIds],
  );
  return new Map(rows.map(({ id, ...deferred }) => [id, deferred]));
});
