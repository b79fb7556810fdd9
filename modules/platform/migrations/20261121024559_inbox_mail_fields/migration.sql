-- DropIndex
DROP INDEX "inbox_mails_recipient_idx";

-- AlterTable
ALTER TABLE "inbox_mails" ADD COLUMN     "message_id" TEXT,
ADD COLUMN     "sender" TEXT NOT NULL,
ADD COLUMN     "size" INTEGER NOT NULL;

-- CreateIndex
CREATE INDEX "inbox_mails_recipient_id_idx" ON "inbox_mails"("recipient", "id");
