-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "local_time" TEXT,
ADD COLUMN     "time_zone" TEXT,
ADD COLUMN     "time_zone_field" TEXT;

-- CreateTable
CREATE TABLE "campaign_local_times" (
    "campaign_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "messages" INTEGER NOT NULL,

    CONSTRAINT "campaign_local_times_pkey" PRIMARY KEY ("campaign_id","at")
);

-- AddForeignKey
ALTER TABLE "campaign_local_times" ADD CONSTRAINT "campaign_local_times_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "campaigns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- By hand, to the end.
ALTER TABLE "campaigns" ADD CHECK (("local_time" IS NULL) = ("time_zone" IS NULL) AND ("time_zone_field" IS NULL OR "local_time" IS NOT NULL));
