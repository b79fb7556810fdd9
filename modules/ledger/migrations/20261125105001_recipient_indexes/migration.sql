-- postroom: no transaction
-- The recipients of a campaign by exact address, and those with rare outcomes. Addresses never change, and few messages have such an
-- outcome, so messages are still updated in place while they are sent. An index that an interrupted build left behind is invalid and built
-- anew.
DROP INDEX CONCURRENTLY IF EXISTS "messages_recipient_idx";
CREATE INDEX CONCURRENTLY "messages_recipient_idx" ON "messages"("campaign_id", coalesce("email_key", lower("email" COLLATE "C"))) WHERE "campaign_id" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "messages_rare_outcome_idx";
CREATE INDEX CONCURRENTLY "messages_rare_outcome_idx" ON "messages"("campaign_id", "id") WHERE "campaign_id" IS NOT NULL AND ("bounced_at" IS NOT NULL OR "complained_at" IS NOT NULL OR "unsubscribed_at" IS NOT NULL);
