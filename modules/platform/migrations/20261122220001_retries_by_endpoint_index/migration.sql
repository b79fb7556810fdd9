-- postroom: no transaction
-- Waiting retries of each endpoint by due time, so that those of one endpoint cost another nothing to pass. An index that an
-- interrupted build left behind is invalid and built anew.
DROP INDEX CONCURRENTLY IF EXISTS "deliveries_retries_idx";
CREATE INDEX CONCURRENTLY "deliveries_retries_idx" ON "deliveries"("endpoint_id", "next_attempt_at") WHERE "dispatched_at" IS NULL AND "state" = 'retried';
