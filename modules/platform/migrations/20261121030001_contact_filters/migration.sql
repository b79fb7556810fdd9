-- CreateIndex
CREATE INDEX "contacts_project_id_source_id_idx" ON "contacts"("project_id", "source", "id");

-- CreateIndex
CREATE INDEX "contacts_custom_fields_idx" ON "contacts" USING GIN ("custom_fields" jsonb_path_ops);

-- By hand: the order of an enum is not part of Prisma's comparison. Reasons are declared strongest first, so that the
-- suppression status of an address is the minimum of its reasons.
ALTER TYPE "suppression_reason" RENAME TO "suppression_reason_by_time";
CREATE TYPE "suppression_reason" AS ENUM ('complained', 'bounced', 'manual', 'unsubscribed');
ALTER TABLE "suppressions" ALTER COLUMN "reason" TYPE "suppression_reason" USING "reason"::text::"suppression_reason";
DROP TYPE "suppression_reason_by_time";

-- By hand: segments ask which mail a contact was sent, opened or clicked. Transactional mail has no contact.
CREATE INDEX "messages_contact_id_idx" ON "messages"("contact_id", "id") WHERE "contact_id" IS NOT NULL;

-- By hand: search inside addresses and names. A server without pg_trgm, or a role that may not create it, still
-- searches, newest contacts first, only slower for what is rare.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX "contacts_search_idx" ON "contacts" USING GIN ("email_key" gin_trgm_ops, lower("name") gin_trgm_ops);
EXCEPTION WHEN undefined_file OR feature_not_supported OR insufficient_privilege THEN
  RAISE NOTICE 'pg_trgm is not available: searching contacts will be slower';
END
$$;
