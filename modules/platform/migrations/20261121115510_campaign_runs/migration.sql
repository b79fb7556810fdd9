-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "first_completed_at" TIMESTAMPTZ(3),
ADD COLUMN     "run" INTEGER NOT NULL DEFAULT 1;

-- Campaigns that have completed have told so.
UPDATE "campaigns" SET "first_completed_at" = "completed_at" WHERE "status" = 'completed';
