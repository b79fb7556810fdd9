import { pool } from '@postroom/platform';

/** An endpoint's recent deliveries by state, and its latency. */
export interface DeliveryStats {
  acknowledged: number;
  retried: number;
  failed: number;
  queued: number;
  /** Whether the limit was reached, so that the counts cover only the latest deliveries. */
  more: boolean;
  /** Median duration of an attempt in milliseconds; null if there were none. */
  medianMs: number | null;
  /** 95th percentile. */
  p95Ms: number | null;
}

/** Caps the cost of the statistics at the latest deliveries, whatever the endpoint's traffic. */
const MAX_DELIVERIES = 5_000;

/** Reads each endpoint's latest deliveries backwards from the index `(endpoint_id, id)`, and their attempts by primary key. */
const STATS = `
  SELECT endpoint.id AS "endpointId", counted.* FROM unnest($1::text[]) AS endpoint(id) CROSS JOIN LATERAL (
    WITH recent AS (
      SELECT id, state FROM (
        SELECT id, state, created_at FROM deliveries WHERE endpoint_id = endpoint.id ORDER BY id DESC LIMIT ${MAX_DELIVERIES}
      ) AS latest
      WHERE created_at > now() - interval '24 hours'
    ), latency AS (
      SELECT percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY duration_ms) AS ms
      FROM attempts JOIN recent ON attempts.delivery_id = recent.id
    )
    SELECT count(*) FILTER (WHERE state = 'acknowledged')::int AS acknowledged,
      count(*) FILTER (WHERE state = 'retried')::int AS retried,
      count(*) FILTER (WHERE state = 'failed')::int AS failed,
      count(*) FILTER (WHERE state = 'queued')::int AS queued,
      count(*) = ${MAX_DELIVERIES} AS more,
      (SELECT ms[1] FROM latency) AS "medianMs", (SELECT ms[2] FROM latency) AS "p95Ms"
    FROM recent
  ) AS counted`;

/** Statistics of each endpoint's deliveries of the last 24 hours, at most the latest 5,000. */
export async function deliveryStats(endpointIds: readonly string[]): Promise<Map<string, DeliveryStats>> {
  const { rows } = await pool.query<DeliveryStats & { endpointId: string }>(STATS, [endpointIds]);
  return new Map(rows.map((row) => [row.endpointId, row]));
}
