-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "rejected_count" INTEGER NOT NULL DEFAULT 0;
