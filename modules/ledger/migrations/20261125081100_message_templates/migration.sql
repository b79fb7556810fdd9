-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "template_id" TEXT;
