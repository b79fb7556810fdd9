-- DropForeignKey
ALTER TABLE "messages" DROP CONSTRAINT "messages_project_id_fkey";

-- DropForeignKey
ALTER TABLE "messages" DROP CONSTRAINT "messages_campaign_id_fkey";

-- DropIndex
DROP INDEX "messages_campaign_id_state_id_idx";

-- DropIndex
DROP INDEX "messages_project_id_id_idx";

-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "claimed_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "cursor" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "frozen_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "copy_of" TEXT,
ADD COLUMN     "deferred_at" TIMESTAMPTZ(3),
ADD COLUMN     "metadata" JSONB,
ADD COLUMN     "rejected_at" TIMESTAMPTZ(3),
ADD COLUMN     "subject" TEXT,
ADD COLUMN     "tags" JSONB,
ADD COLUMN     "unsent_at" TIMESTAMPTZ(3),
ADD COLUMN     "workflow_id" TEXT;

-- AlterTable
ALTER TABLE "message_contents" DROP COLUMN "attachments",
DROP COLUMN "metadata",
DROP COLUMN "subject",
DROP COLUMN "tags";

-- CreateTable
CREATE TABLE "message_attachments" (
    "message_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "filename" TEXT NOT NULL,
    "content_type" TEXT,
    "content_id" TEXT,
    "content" BYTEA NOT NULL,

    CONSTRAINT "message_attachments_pkey" PRIMARY KEY ("message_id","position")
);

-- CreateIndex
CREATE INDEX "messages_campaign_id_id_idx" ON "messages"("campaign_id", "id");

-- AddForeignKey
ALTER TABLE "message_attachments" ADD CONSTRAINT "message_attachments_message_id_fkey" FOREIGN KEY ("message_id") REFERENCES "message_contents"("message_id") ON DELETE CASCADE ON UPDATE CASCADE;
-- DropIndex
DROP INDEX "messages_campaign_id_contact_id_key";

-- CreateIndex
CREATE UNIQUE INDEX "messages_contact_id_campaign_id_key" ON "messages"("contact_id", "campaign_id");

-- What Prisma's schema cannot say, written by hand.

-- The unique key begins with the contact, so it also finds the mail of a contact.
DROP INDEX "messages_contact_id_idx";

-- A row on its way to `accepted` changes none of the columns that an index of this table names, so each change is made on
-- the row's own page and no index hears of it. That takes room: half of each page is left free for the next version.
ALTER TABLE "messages" SET (fillfactor = 50);

-- What goes again, in a campaign: rows that a server put off, that were given back, or that a person wants retried.
CREATE INDEX "messages_again_idx" ON "messages"("campaign_id", "not_before") WHERE "campaign_id" IS NOT NULL AND "not_before" IS NOT NULL;
-- Few recipients fail, are suppressed or remain unknown, and they are what people look for.
CREATE INDEX "messages_unsent_idx" ON "messages"("campaign_id", "id") WHERE "unsent_at" IS NOT NULL;
-- Transactional mail: the list, the list of one address, the copies of one email, what waits for the relay, what
-- workflows have in hand.
CREATE INDEX "messages_transactional_idx" ON "messages"("project_id", "id") WHERE "campaign_id" IS NULL;
CREATE INDEX "messages_transactional_email_idx" ON "messages"("project_id", lower("email"), "id") WHERE "campaign_id" IS NULL;
CREATE INDEX "messages_copies_idx" ON "messages"("copy_of") WHERE "copy_of" IS NOT NULL;
CREATE INDEX "messages_waiting_idx" ON "messages"("not_before") WHERE "campaign_id" IS NULL AND "handed_at" IS NULL;
CREATE INDEX "messages_in_hand_idx" ON "messages"("workflow_id") WHERE "workflow_id" IS NOT NULL;

-- Attachments are compressed already, or random: trying again costs more than it saves.
ALTER TABLE "message_attachments" ALTER COLUMN "content" SET STORAGE EXTERNAL;
