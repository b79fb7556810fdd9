-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "waiting_reason" TEXT,
ADD COLUMN     "waiting_until" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "warmup_since" DATE,
ADD COLUMN     "warmup_steps" INTEGER[] DEFAULT ARRAY[]::INTEGER[];

-- CreateTable
CREATE TABLE "domain_volumes" (
    "domain_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "messages" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "domain_volumes_pkey" PRIMARY KEY ("domain_id","day")
);

-- AddForeignKey
ALTER TABLE "domain_volumes" ADD CONSTRAINT "domain_volumes_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domains"("id") ON DELETE CASCADE ON UPDATE CASCADE;
