-- DropIndex
DROP INDEX "deliveries_event_id_endpoint_id_key";

-- AlterTable
ALTER TABLE "deliveries" ADD COLUMN     "replay_of" TEXT,
ADD COLUMN     "returns" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "workflow_id" TEXT,
ALTER COLUMN "next_attempt_at" SET DEFAULT CURRENT_TIMESTAMP;

-- AlterTable
ALTER TABLE "attempts" ALTER COLUMN "headers" SET DATA TYPE JSON;

-- CreateIndex
CREATE INDEX "deliveries_event_id_idx" ON "deliveries"("event_id");
