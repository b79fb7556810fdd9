-- postroom: no transaction
-- The campaigns made from a template, for segments. An index that an interrupted build left behind is invalid and built anew.
DROP INDEX CONCURRENTLY IF EXISTS "campaigns_template_idx";
CREATE INDEX CONCURRENTLY "campaigns_template_idx" ON "campaigns"("template_id") WHERE "template_id" IS NOT NULL;
