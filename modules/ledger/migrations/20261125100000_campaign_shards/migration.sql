-- CreateTable
CREATE TABLE "campaign_shards" (
    "fencing_token" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "run" INTEGER NOT NULL,
    "cursor" TEXT NOT NULL DEFAULT '',
    "until" TEXT NOT NULL DEFAULT '',
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "claimed_count" INTEGER NOT NULL DEFAULT 0,
    "accepted_count" INTEGER NOT NULL DEFAULT 0,
    "failed_count" INTEGER NOT NULL DEFAULT 0,
    "suppressed_count" INTEGER NOT NULL DEFAULT 0,
    "unknown_count" INTEGER NOT NULL DEFAULT 0,
    "canceled_count" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "campaign_shards_pkey" PRIMARY KEY ("fencing_token")
);

-- CreateIndex
CREATE INDEX "campaign_shards_campaign_id_idx" ON "campaign_shards"("campaign_id");

-- AddForeignKey
ALTER TABLE "campaign_shards" ADD CONSTRAINT "campaign_shards_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "campaigns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Claims and settlements update a row many times a second, in place.
ALTER TABLE "campaign_shards" SET (fillfactor = 20);
