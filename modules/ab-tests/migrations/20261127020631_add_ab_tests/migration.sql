-- CreateEnum
CREATE TYPE "ab_test_status" AS ENUM ('draft', 'testing', 'completed', 'canceled');

-- CreateEnum
CREATE TYPE "ab_test_metric" AS ENUM ('opens', 'clicks');

-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "ab_test_id" TEXT,
ADD COLUMN     "share_from" INTEGER,
ADD COLUMN     "share_to" INTEGER;

-- CreateTable
CREATE TABLE "ab_tests" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "status" "ab_test_status" NOT NULL DEFAULT 'draft',
    "variant_ids" TEXT[],
    "sample_percent" INTEGER NOT NULL,
    "metric" "ab_test_metric" NOT NULL,
    "duration_hours" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "ends_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "winner_id" TEXT,
    "chosen_by_id" TEXT,
    "final_campaign_id" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ab_tests_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "ab_tests_project_id_id_idx" ON "ab_tests"("project_id", "id");

-- CreateIndex
CREATE INDEX "campaigns_ab_test_id_idx" ON "campaigns"("ab_test_id");

-- By hand, to the end.
ALTER TABLE ab_tests ADD FOREIGN KEY (project_id) REFERENCES projects ON DELETE CASCADE,
  ADD CHECK (sample_percent BETWEEN 1 AND 100), ADD CHECK (duration_hours BETWEEN 1 AND 168),
  ADD CHECK (cardinality(variant_ids) BETWEEN 2 AND 5);
ALTER TABLE campaigns ADD FOREIGN KEY (ab_test_id) REFERENCES ab_tests;
