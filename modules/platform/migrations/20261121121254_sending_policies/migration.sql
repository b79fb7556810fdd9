-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "base_bounced" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "base_complained" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "base_sent" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "pause_blocks_sender" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "refusals_in_row" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "sending_policies" (
    "project_id" TEXT NOT NULL,
    "rate_per_second" INTEGER,
    "bounce_limit_percent" DOUBLE PRECISION DEFAULT 5,
    "bounce_min_sent" INTEGER NOT NULL DEFAULT 100,
    "complaint_limit_percent" DOUBLE PRECISION DEFAULT 0.1,
    "complaint_min_sent" INTEGER NOT NULL DEFAULT 1000,
    "refusals_in_row" INTEGER DEFAULT 25,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sending_policies_pkey" PRIMARY KEY ("project_id")
);

-- AddForeignKey
ALTER TABLE "sending_policies" ADD CONSTRAINT "sending_policies_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Looked through every few seconds, and with each page of a project that has a rate.
CREATE INDEX "campaigns_sending_idx" ON "campaigns"("project_id") WHERE "status" = 'sending';
