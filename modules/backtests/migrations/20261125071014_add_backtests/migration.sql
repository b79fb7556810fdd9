-- CreateEnum
CREATE TYPE "backtest_status" AS ENUM ('running', 'completed', 'failed', 'canceled');

-- CreateEnum
CREATE TYPE "backtest_difference" AS ENUM ('none', 'candidate_only', 'baseline_only', 'times', 'messages');

-- AlterTable
-- By hand, in two steps: of members that are there already it is not known.
ALTER TABLE "group_members" ADD COLUMN "joined_at" TIMESTAMPTZ(3);
ALTER TABLE "group_members" ALTER COLUMN "joined_at" SET DEFAULT CURRENT_TIMESTAMP;

-- CreateTable
CREATE TABLE "backtests" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "journey_id" TEXT,
    "days" INTEGER NOT NULL,
    "until_at" TIMESTAMPTZ(3) NOT NULL,
    "candidate" JSONB NOT NULL,
    "candidate_version" INTEGER,
    "baseline" JSONB,
    "baseline_version" INTEGER,
    "assumptions" JSONB NOT NULL,
    "segment_id" TEXT,
    "actor_id" TEXT NOT NULL,
    "status" "backtest_status" NOT NULL DEFAULT 'running',
    "total" INTEGER NOT NULL DEFAULT 0,
    "processed" INTEGER NOT NULL DEFAULT 0,
    "cursor" TEXT NOT NULL DEFAULT '',
    "totals" JSONB NOT NULL DEFAULT '{}',
    "listed" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "cancel_requested_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "backtests_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "backtest_contacts" (
    "id" TEXT NOT NULL,
    "backtest_id" TEXT NOT NULL,
    "contact_id" TEXT NOT NULL,
    "difference" "backtest_difference" NOT NULL,
    "candidate" JSONB NOT NULL,
    "baseline" JSONB NOT NULL,
    "marks" TEXT[],

    CONSTRAINT "backtest_contacts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "backtests_project_id_id_idx" ON "backtests"("project_id", "id");

-- CreateIndex
CREATE INDEX "backtest_contacts_backtest_id_id_idx" ON "backtest_contacts"("backtest_id", "id");

-- CreateIndex
CREATE INDEX "backtest_contacts_contact_id_idx" ON "backtest_contacts"("contact_id");

-- By hand, to the end. Contacts have no foreign key, as in other tables; a trigger deletes their rows.
ALTER TABLE backtests ADD FOREIGN KEY (project_id) REFERENCES projects ON DELETE CASCADE,
  ADD FOREIGN KEY (journey_id) REFERENCES journeys ON DELETE CASCADE;
ALTER TABLE backtest_contacts ADD FOREIGN KEY (backtest_id) REFERENCES backtests ON DELETE CASCADE;
CREATE UNIQUE INDEX backtest_contacts_once ON backtest_contacts (backtest_id, contact_id);

CREATE FUNCTION delete_backtest_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM backtest_contacts b USING deleted_contacts c WHERE b.contact_id = c.id;
  RETURN NULL;
END $$;
CREATE TRIGGER delete_backtests AFTER DELETE ON contacts
  REFERENCING OLD TABLE AS deleted_contacts FOR EACH STATEMENT EXECUTE FUNCTION delete_backtest_contacts();
