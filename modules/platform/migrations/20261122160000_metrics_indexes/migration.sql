-- postroom: no transaction
-- What /metrics reads at each scrape. An index that an interrupted build left behind is invalid and built anew.
DROP INDEX CONCURRENTLY IF EXISTS "campaigns_unknown_idx";
CREATE INDEX CONCURRENTLY "campaigns_unknown_idx" ON "campaigns"("id") WHERE "unknown_count" > 0;
DROP INDEX CONCURRENTLY IF EXISTS "campaigns_scheduled_idx";
CREATE INDEX CONCURRENTLY "campaigns_scheduled_idx" ON "campaigns"("scheduled_at") WHERE "status" = 'scheduled';
DROP INDEX CONCURRENTLY IF EXISTS "imports_queued_idx";
CREATE INDEX CONCURRENTLY "imports_queued_idx" ON "imports"("created_at") WHERE "status" = 'queued';
