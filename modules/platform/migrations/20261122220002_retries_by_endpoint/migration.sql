-- Retries are dispatched when they are due, by endpoint, in batches.

-- Deliveries of a batch that kept failing must not share one again.
ALTER TABLE "deliveries" ADD COLUMN "own_workflow" BOOLEAN NOT NULL DEFAULT false;

-- Attempts that workflows are making, by endpoint and state. Deliveries that wait in their workflow are due later, so the range of
-- the index on next_attempt_at leaves them out. Functions, since only they can forbid sequential scans: see read_waiting_deliveries.
CREATE FUNCTION count_attempts_in_flight() RETURNS TABLE (endpoint_id text, state delivery_state, count int)
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off AS $$
  SELECT endpoint_id, state, count(*)::int FROM deliveries
  WHERE dispatched_at IS NOT NULL AND closed_at IS NULL AND next_attempt_at <= now() GROUP BY endpoint_id, state
$$;

-- The next endpoints after one for which retries wait, and how many of those are due, counted up to `most_due`. It jumps from endpoint to
-- endpoint in deliveries_retries_idx, so a million waiting retries of one endpoint cost as much as one.
CREATE FUNCTION read_due_retries(after text, endpoints int, most_due int) RETURNS TABLE (endpoint_id text, due int)
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off AS $$
  WITH RECURSIVE jump AS (
    (SELECT d.endpoint_id, 1 AS number FROM deliveries d
     WHERE d.dispatched_at IS NULL AND d.state = 'retried' AND d.endpoint_id > after ORDER BY d.endpoint_id LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, jump.number + 1
    FROM jump CROSS JOIN LATERAL (
      SELECT d.endpoint_id FROM deliveries d
      WHERE d.dispatched_at IS NULL AND d.state = 'retried' AND d.endpoint_id > jump.endpoint_id ORDER BY d.endpoint_id LIMIT 1
    ) AS next
    WHERE jump.number < endpoints
  )
  SELECT jump.endpoint_id,
    (SELECT count(*)::int FROM (
       SELECT FROM deliveries d
       WHERE d.endpoint_id BETWEEN jump.endpoint_id AND jump.endpoint_id AND d.dispatched_at IS NULL AND d.state = 'retried'
         AND d.next_attempt_at <= now()
       ORDER BY d.endpoint_id, d.next_attempt_at LIMIT most_due
     ) AS part)
  FROM jump
$$;
