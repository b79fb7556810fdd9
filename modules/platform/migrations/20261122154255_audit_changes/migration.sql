-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN     "changes" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "target_name" TEXT;

-- CreateIndex
CREATE INDEX "audit_entries_project_id_actor_id_id_idx" ON "audit_entries"("project_id", "actor_id", "id");

-- CreateIndex
CREATE INDEX "audit_entries_project_id_action_id_idx" ON "audit_entries"("project_id", "action", "id");

-- By the kind of object, which is the prefix of its id.
CREATE INDEX "audit_entries_project_id_target_kind_id_idx" ON "audit_entries" ("project_id", split_part("target_id", '_', 1), "id");
