-- CreateTable
CREATE TABLE "leases" (
    "name" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "leases_pkey" PRIMARY KEY ("name")
);
-- What the sweep reads every few seconds, however much has ended. Statuses rarely change, so updates of counters stay in place.
CREATE INDEX "campaigns_open" ON "campaigns" ("status") WHERE "status" IN ('scheduled', 'sending', 'paused', 'canceled');
CREATE INDEX "imports_open" ON "imports" ("id") WHERE "status" IN ('queued', 'running');
CREATE INDEX "bulk_operations_open" ON "bulk_operations" ("id") WHERE "status" = 'running';
