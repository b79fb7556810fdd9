-- postroom: no transaction
-- The mail of a template, for segments. No update changes the column, so updates in place stay possible, and mail of campaigns is not in it.
-- An index that an interrupted build left behind is invalid and built anew.
DROP INDEX CONCURRENTLY IF EXISTS "messages_template_idx";
CREATE INDEX CONCURRENTLY "messages_template_idx" ON "messages"("template_id") WHERE "template_id" IS NOT NULL;
