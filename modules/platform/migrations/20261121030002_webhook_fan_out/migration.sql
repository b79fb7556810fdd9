-- DropIndex
DROP INDEX "deliveries_event_id_endpoint_id_key";

-- AlterTable
ALTER TABLE "deliveries" ADD COLUMN     "replay_of" TEXT,
ADD COLUMN     "returns" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "workflow_id" TEXT,
ALTER COLUMN "next_attempt_at" SET DEFAULT CURRENT_TIMESTAMP;

-- AlterTable
ALTER TABLE "attempts" ALTER COLUMN "headers" DROP DEFAULT,
ALTER COLUMN "headers" SET DATA TYPE JSON;

-- CreateIndex
CREATE INDEX "deliveries_event_id_idx" ON "deliveries"("event_id");

-- What Prisma's schema cannot say, written by hand.

-- What the relay takes from: deliveries not yet attempted, by endpoint, and those that wait for another attempt.
CREATE INDEX "deliveries_waiting_idx" ON "deliveries"("endpoint_id", "id") WHERE "handed_at" IS NULL AND "state" = 'queued';
CREATE INDEX "deliveries_due_idx" ON "deliveries"("next_attempt_at") WHERE "handed_at" IS NULL AND "state" = 'retried';
-- What workflows have in hand: the relay counts it, and the sweeper looks for what is long overdue.
CREATE INDEX "deliveries_in_hand_idx" ON "deliveries"("next_attempt_at") WHERE "handed_at" IS NOT NULL AND "closed_at" IS NULL;
-- Few deliveries fail, and they are what people look for.
CREATE INDEX "deliveries_troubled_idx" ON "deliveries"("endpoint_id", "state", "id") WHERE "state" IN ('retried', 'failed');
CREATE INDEX "deliveries_replay_of_idx" ON "deliveries"("replay_of") WHERE "replay_of" IS NOT NULL;

-- A delivery is updated two times in its first second, so the table is cleaned by absolute numbers, not at a fifth of it.
ALTER TABLE "deliveries" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- One delivery for each enabled endpoint of the project that wants the type, in the statement that records the events, so
-- that nothing that records events can forget the webhooks. `webhook.test` goes to the endpoint that it names.
CREATE FUNCTION fan_out_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deliveries (id, project_id, endpoint_id, event_id)
  SELECT postroom_id('dlv'), wanted.project_id, wanted.endpoint_id, wanted.event_id
  FROM (
    SELECT event.project_id, endpoint.id AS endpoint_id, event.id AS event_id
    FROM new_events event
    JOIN webhook_endpoints endpoint ON endpoint.project_id = event.project_id AND endpoint.enabled
    WHERE CASE event.type
      WHEN 'webhook.test' THEN endpoint.id = event.data->>'endpoint_id'
      ELSE event.type = ANY(endpoint.events) OR '*' = ANY(endpoint.events)
    END
    ORDER BY event.id -- an endpoint hears of events in the order in which they were recorded, as far as that is possible
  ) AS wanted;
  IF FOUND THEN
    PERFORM pg_notify('postroom', 'deliveries');
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER fan_out_events AFTER INSERT ON events
  REFERENCING NEW TABLE AS new_events FOR EACH STATEMENT EXECUTE FUNCTION fan_out_events();
