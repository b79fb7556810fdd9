-- AlterTable
ALTER TABLE "events" ADD COLUMN     "xact" BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text)::bigint;

-- CreateIndex
CREATE INDEX "events_project_id_xact_id_idx" ON "events"("project_id", "xact", "id");
