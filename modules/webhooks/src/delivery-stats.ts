import { pool } from '@postroom/platform';

/** How an endpoint did lately. */
export interface DeliveryStats {
  acknowledged: number;
  retried: number;
  failed: number;
  queued: number;
  /** Whether there were more than are looked at, so that the counts are of the latest of them. */
  more: boolean;
  /** How long half of the attempts took at most, in milliseconds; null when there were none. */
  medianMs: number | null;
  /** And 95 of a hundred. */
  p95Ms: number | null;
}

/** A look at an endpoint costs the same however much goes to it: no more than its latest deliveries. */
const LOOK_AT = 5_000;

/** Of each endpoint: what became of its deliveries of the last 24 hours, the latest 5,000 of them. */
export async function deliveryStats(endpointIds: readonly string[]): Promise<Map<string, DeliveryStats>> {
  const { rows } = await pool.query<DeliveryStats & { endpointId: string }>(
    `SELECT endpoint.id AS "endpointId", counted.* FROM unnest($1::text[]) AS endpoint(id) CROSS JOIN LATERAL (
       WITH recent AS (
         SELECT id, state FROM (
           SELECT id, state, created_at FROM deliveries WHERE endpoint_id = endpoint.id ORDER BY id DESC LIMIT ${LOOK_AT}
         ) AS latest
         WHERE created_at > now() - interval '24 hours'
       ), took AS (
         SELECT percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY duration_ms) AS ms
         FROM attempts JOIN recent ON attempts.delivery_id = recent.id
       )
       SELECT count(*) FILTER (WHERE state = 'acknowledged')::int AS acknowledged,
         count(*) FILTER (WHERE state = 'retried')::int AS retried,
         count(*) FILTER (WHERE state = 'failed')::int AS failed,
         count(*) FILTER (WHERE state = 'queued')::int AS queued,
         count(*) = ${LOOK_AT} AS more,
         (SELECT ms[1] FROM took) AS "medianMs", (SELECT ms[2] FROM took) AS "p95Ms"
       FROM recent
     ) AS counted`,
    [endpointIds],
  );
  return new Map(rows.map((row) => [row.endpointId, row]));
}
