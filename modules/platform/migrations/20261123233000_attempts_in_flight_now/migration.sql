-- Compares with the time of the statement, since a transaction that waited to claim began before the claims that it has to count.
CREATE OR REPLACE FUNCTION count_attempts_in_flight() RETURNS TABLE (endpoint_id text, state delivery_state, count int)
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off AS $$
  SELECT endpoint_id, state, count(*)::int FROM deliveries
  WHERE dispatched_at IS NOT NULL AND closed_at IS NULL AND next_attempt_at <= statement_timestamp() GROUP BY endpoint_id, state
$$;
