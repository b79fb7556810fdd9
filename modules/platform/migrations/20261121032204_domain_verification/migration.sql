-- AlterTable
ALTER TABLE "domains" DROP COLUMN "lifecycle",
ADD COLUMN     "blocked_reason" TEXT,
ADD COLUMN     "checked_at" TIMESTAMPTZ(3),
ADD COLUMN     "mail_from_domain" TEXT,
ADD COLUMN     "memory" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "nameservers" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "next_check_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "dkim_keys" (
    "domain_id" TEXT NOT NULL,
    "selector" TEXT NOT NULL,
    "private_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "dkim_keys_pkey" PRIMARY KEY ("domain_id","selector")
);

-- CreateTable
CREATE TABLE "domain_lifecycle" (
    "id" BIGSERIAL NOT NULL,
    "domain_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "type" TEXT NOT NULL,
    "part" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "detail" TEXT NOT NULL,

    CONSTRAINT "domain_lifecycle_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "domain_lifecycle_domain_id_id_idx" ON "domain_lifecycle"("domain_id", "id");

-- CreateIndex
CREATE INDEX "domains_next_check_at_idx" ON "domains"("next_check_at");

-- AddForeignKey
ALTER TABLE "dkim_keys" ADD CONSTRAINT "dkim_keys_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domains"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "domain_lifecycle" ADD CONSTRAINT "domain_lifecycle_domain_id_fkey" FOREIGN KEY ("domain_id") REFERENCES "domains"("id") ON DELETE CASCADE ON UPDATE CASCADE;
