-- CreateTable
CREATE TABLE "installation" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "epoch" INTEGER NOT NULL DEFAULT 1,
    "number" INTEGER NOT NULL DEFAULT 0,
    "timeline" TEXT NOT NULL,
    "held_reason" TEXT,
    "held_at" TIMESTAMPTZ(3),

    CONSTRAINT "installation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sending_reservations" (
    "scope" TEXT NOT NULL,
    "position" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "epoch" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,

    CONSTRAINT "sending_reservations_pkey" PRIMARY KEY ("scope")
);
-- Empty where the server does not say, as managed ones may not.
CREATE FUNCTION current_timeline() RETURNS TEXT LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
EXCEPTION WHEN OTHERS THEN
  RETURN '';
END $$;

INSERT INTO "installation" ("id", "timeline") VALUES (1, current_timeline());
