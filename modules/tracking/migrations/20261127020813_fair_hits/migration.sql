-- postroom: no transaction
-- Hits that wait to be classified, by project and in the order in which they came. Gateways of the previous version store no project.
DROP INDEX CONCURRENTLY IF EXISTS "tracking_hits_waiting";
CREATE INDEX CONCURRENTLY "tracking_hits_waiting" ON "tracking_hits"(coalesce("project_id", ''), "id") WHERE "verdict" IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS "tracking_hits_unjudged";
-- The hits of a message around a time. It serves as the index by message alone, too.
DROP INDEX CONCURRENTLY IF EXISTS "tracking_hits_message_id_at_idx";
CREATE INDEX CONCURRENTLY "tracking_hits_message_id_at_idx" ON "tracking_hits"("message_id", "at");
DROP INDEX CONCURRENTLY IF EXISTS "tracking_hits_message_id_idx";
