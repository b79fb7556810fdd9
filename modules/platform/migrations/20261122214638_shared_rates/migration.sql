-- Unlogged: taking a slice waits for no disk, and a crash of the server only fills the buckets. No index but the primary key, so that
-- an update touches none.
CREATE UNLOGGED TABLE "shared_rates" (
    "name" TEXT NOT NULL,
    "rate" DOUBLE PRECISION NOT NULL,
    "base" TIMESTAMPTZ(6) NOT NULL,
    "horizon" TIMESTAMPTZ(6) NOT NULL,
    "owed" INTEGER NOT NULL,
    "granted" INTEGER NOT NULL,
    "spent_until" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "shared_rates_pkey" PRIMARY KEY ("name")
);
