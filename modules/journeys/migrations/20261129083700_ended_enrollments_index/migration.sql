-- postroom: no transaction
-- Runs that retention deletes: without it, each project's turn reads the runs of all.
DROP INDEX CONCURRENTLY IF EXISTS "enrollments_ended";
CREATE INDEX CONCURRENTLY "enrollments_ended" ON "enrollments"("project_id", "ended_at") WHERE "ended_at" IS NOT NULL;
