-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "recipients_deleted_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "projects" ADD COLUMN     "message_retention_days" INTEGER;
