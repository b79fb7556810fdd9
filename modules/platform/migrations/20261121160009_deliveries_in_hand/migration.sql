-- What the relay asks in each of its rounds, in functions, since only they can say that no table is read as a whole for it.
-- PostgreSQL expects more of what is asked for the more waits in the table, and would read all of it to find few.

-- What workflows have in hand.
CREATE FUNCTION count_deliveries_in_hand() RETURNS TABLE (endpoint_id text, state delivery_state, count int)
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off AS $$
  SELECT endpoint_id, state, count(*)::int FROM deliveries
  WHERE handed_at IS NOT NULL AND closed_at IS NULL GROUP BY endpoint_id, state
$$;

-- Endpoints after one for which deliveries wait, in their order and so many at most. It jumps from endpoint to endpoint in the
-- index, and counts no further than asked, so a million rows of one cost what a batch of them costs.
CREATE FUNCTION read_waiting_deliveries(after text, endpoints int, most_waiting int, most_retrying int)
RETURNS TABLE (endpoint_id text, waiting int, retrying int)
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off AS $$
  WITH RECURSIVE jump AS (
    (SELECT d.endpoint_id, 1 AS number FROM deliveries d
     WHERE d.handed_at IS NULL AND d.state = 'queued' AND d.endpoint_id > after ORDER BY d.endpoint_id LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, jump.number + 1
    FROM jump CROSS JOIN LATERAL (
      SELECT d.endpoint_id FROM deliveries d
      WHERE d.handed_at IS NULL AND d.state = 'queued' AND d.endpoint_id > jump.endpoint_id ORDER BY d.endpoint_id LIMIT 1
    ) AS next
    WHERE jump.number < endpoints
  )
  SELECT jump.endpoint_id,
    (SELECT count(*)::int FROM (
       SELECT FROM deliveries d
       WHERE d.endpoint_id = jump.endpoint_id AND d.handed_at IS NULL AND d.state = 'queued' LIMIT most_waiting
     ) AS part),
    (SELECT count(*)::int FROM (
       SELECT FROM deliveries d WHERE d.endpoint_id = jump.endpoint_id AND d.state = 'retried' LIMIT most_retrying
     ) AS part)
  FROM jump
$$;
