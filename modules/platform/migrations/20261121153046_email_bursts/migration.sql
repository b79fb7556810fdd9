-- CreateTable
CREATE TABLE "email_bursts" (
    "project_id" TEXT NOT NULL,
    "workflow_id" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "email_bursts_pkey" PRIMARY KEY ("project_id")
);

-- AddForeignKey
ALTER TABLE "email_bursts" ADD CONSTRAINT "email_bursts_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What waits for the relay, by hand, since Prisma's schema can't say it. Mail that goes out for the first time is found by its
-- project, so that one with a million waiting holds up no other; what a server put off, and what goes by a mailbox
-- account, is handed over by itself.
DROP INDEX "messages_waiting_idx";
CREATE INDEX "messages_waiting_idx" ON "messages"("project_id", "not_before")
  WHERE "campaign_id" IS NULL AND "handed_at" IS NULL AND "mailbox_id" IS NULL AND "deferred_at" IS NULL;
CREATE INDEX "messages_waiting_apart_idx" ON "messages"("not_before")
  WHERE "campaign_id" IS NULL AND "handed_at" IS NULL AND ("mailbox_id" IS NOT NULL OR "deferred_at" IS NOT NULL);
