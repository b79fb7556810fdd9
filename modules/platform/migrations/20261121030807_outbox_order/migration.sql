-- CreateIndex
CREATE INDEX "outbox_workflow_id_id_idx" ON "outbox"("workflow_id", "id");
