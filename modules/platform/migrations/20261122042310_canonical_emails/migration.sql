-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "email_key" TEXT;

-- CreateTable
CREATE TABLE "data_migrations" (
    "name" TEXT NOT NULL,
    "cursor" JSONB NOT NULL DEFAULT '{}',
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "data_migrations_pkey" PRIMARY KEY ("name")
);

-- By hand: an expression that Prisma can't say, the key of a message as `messageKeySql` has it. What gives rows their canonical
-- keys and merges them is in src/canonical-emails.ts, since SQL can't encode international domains.
DROP INDEX "messages_transactional_email_idx";
CREATE INDEX "messages_transactional_email_idx" ON "messages"("project_id", coalesce("email_key", lower("email" COLLATE "C")), "id") WHERE "campaign_id" IS NULL;
