-- AlterTable
ALTER TABLE "message_attachments" ADD COLUMN     "alternative" BOOLEAN NOT NULL DEFAULT false;
