-- AlterTable
ALTER TABLE "projects" ADD COLUMN     "event_retention_days" INTEGER;
