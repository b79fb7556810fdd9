-- Columns, tables and functions take the field's standard names. Nothing is rewritten: renames change the catalog only.
ALTER TABLE "messages" RENAME COLUMN "handed_at" TO "dispatched_at";
ALTER TABLE "deliveries" RENAME COLUMN "handed_at" TO "dispatched_at";
ALTER INDEX "deliveries_in_hand_idx" RENAME TO "deliveries_in_flight_idx";
ALTER TABLE "campaigns" RENAME COLUMN "lane" TO "fencing_token";
ALTER TABLE "email_bursts" RENAME TO "email_queue_drains";
ALTER TABLE "email_queue_drains" RENAME COLUMN "until" TO "lease_expires_at";
ALTER TABLE "email_queue_drains" RENAME CONSTRAINT "email_bursts_pkey" TO "email_queue_drains_pkey";
ALTER TABLE "email_queue_drains" RENAME CONSTRAINT "email_bursts_project_id_fkey" TO "email_queue_drains_project_id_fkey";

-- Function bodies are text, so renamed columns do not reach them.
DROP FUNCTION count_deliveries_in_hand();

CREATE FUNCTION count_deliveries_in_flight() RETURNS TABLE (endpoint_id text, state delivery_state, count int)
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off AS $$
  SELECT endpoint_id, state, count(*)::int FROM deliveries
  WHERE dispatched_at IS NOT NULL AND closed_at IS NULL GROUP BY endpoint_id, state
$$;

CREATE OR REPLACE FUNCTION read_waiting_deliveries(after text, endpoints int, most_waiting int, most_retrying int)
RETURNS TABLE (endpoint_id text, waiting int, retrying int)
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off AS $$
  WITH RECURSIVE jump AS (
    (SELECT d.endpoint_id, 1 AS number FROM deliveries d
     WHERE d.dispatched_at IS NULL AND d.state = 'queued' AND d.endpoint_id > after ORDER BY d.endpoint_id LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, jump.number + 1
    FROM jump CROSS JOIN LATERAL (
      SELECT d.endpoint_id FROM deliveries d
      WHERE d.dispatched_at IS NULL AND d.state = 'queued' AND d.endpoint_id > jump.endpoint_id ORDER BY d.endpoint_id LIMIT 1
    ) AS next
    WHERE jump.number < endpoints
  )
  SELECT jump.endpoint_id,
    (SELECT count(*)::int FROM (
       SELECT FROM deliveries d
       WHERE d.endpoint_id = jump.endpoint_id AND d.dispatched_at IS NULL AND d.state = 'queued' LIMIT most_waiting
     ) AS part),
    (SELECT count(*)::int FROM (
       SELECT FROM deliveries d WHERE d.endpoint_id = jump.endpoint_id AND d.state = 'retried' LIMIT most_retrying
     ) AS part)
  FROM jump
$$;
