import { pool } from '@postroom/platform';
import { MAX_DUE, type Queue } from '@postroom/platform/metrics';

/** Endpoints read per scrape; each costs a few index pages. */
const MAX_ENDPOINTS = 10_000;

/**
 * First attempts at enabled endpoints, by the dispatcher's own function (a migration explains why), and retries that are
 * due: the beginning of the index on `next_attempt_at`.
 */
const DUE = `
  WITH first AS (
    SELECT w.waiting, (
      SELECT d.created_at FROM deliveries d
      WHERE d.endpoint_id BETWEEN w.endpoint_id AND w.endpoint_id AND d.dispatched_at IS NULL AND d.state = 'queued'
      ORDER BY d.endpoint_id, d.id LIMIT 1
    ) AS oldest
    FROM read_waiting_deliveries('', ${MAX_ENDPOINTS}, ${MAX_DUE}, 0) w
    JOIN webhook_endpoints e ON e.id = w.endpoint_id AND e.enabled
  ), retries AS (
    SELECT next_attempt_at FROM deliveries
    WHERE dispatched_at IS NULL AND state = 'retried' AND next_attempt_at <= now() ORDER BY next_attempt_at LIMIT ${MAX_DUE}
  )
  SELECT (SELECT coalesce(sum(count), 0)::int FROM count_attempts_in_flight()) AS "inFlight",
    least(${MAX_DUE}, (SELECT coalesce(sum(waiting), 0) FROM first) + (SELECT count(*) FROM retries))::int AS due,
    coalesce(extract(epoch FROM now() - least((SELECT min(oldest) FROM first), (SELECT min(next_attempt_at) FROM retries))), 0)::float AS age`;

/** Webhook deliveries. */
export const queues: readonly Queue[] = [
  {
    kind: 'deliveries',
    read: async () => {
      const { rows } = await pool.query<{ due: number; age: number; inFlight: number }>({
        name: 'webhooks-metrics-due',
        text: DUE,
      });
      const { due = 0, age = 0, inFlight = 0 } = rows[0] ?? {};
      return { due, ageSeconds: age, inFlight };
    },
  },
];
