-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "tracking" "verification_status" NOT NULL DEFAULT 'pending',
ADD COLUMN     "tracking_since" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "domains_tracking_domain_idx" ON "domains"("tracking_domain");

-- Hosts that were in use stay so; the next check says how they stand.
UPDATE "domains" SET "tracking" = 'verified' WHERE "tracking_domain" IS NOT NULL;
