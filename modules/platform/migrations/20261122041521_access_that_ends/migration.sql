-- AlterTable
ALTER TABLE "two_factors" ADD COLUMN     "last_used_step" INTEGER;

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "created_by_id" TEXT,
ADD COLUMN     "excluded_project_ids" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "sign_in_failures" (
    "key" TEXT NOT NULL,
    "failures" INTEGER NOT NULL,
    "next_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_failures_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE INDEX "sign_in_failures_updated_at_idx" ON "sign_in_failures"("updated_at");

-- CreateIndex
CREATE INDEX "invitations_invited_by_id_idx" ON "invitations"("invited_by_id");

-- CreateIndex
CREATE INDEX "api_keys_created_by_id_idx" ON "api_keys"("created_by_id");

-- By hand. Who created the keys there are: the audit log knows it, as far back as it is kept.
UPDATE "api_keys" k SET "created_by_id" = a."actor_id"
FROM "audit_entries" a
WHERE a."action" = 'createApiKey' AND a."target_id" = k."id" AND a."actor_id" LIKE 'usr\_%';

-- Invitations of people who may no longer invite: from now on they end with that right.
DELETE FROM "invitations" i
WHERE i."accepted_at" IS NULL AND NOT EXISTS (
  SELECT FROM "members" m
  WHERE m."project_id" = i."project_id" AND m."user_id" = i."invited_by_id"
    AND (m."role" = 'owner' OR (m."role" = 'admin' AND i."role" <> 'owner')));
