-- AlterTable
ALTER TABLE "campaigns" ALTER COLUMN "group_ids" SET DEFAULT ARRAY[]::TEXT[],
ALTER COLUMN "segment_ids" SET DEFAULT ARRAY[]::TEXT[];

-- A list that was not given was stored as NULL, which is no list.
UPDATE "campaigns" SET "group_ids" = coalesce("group_ids", '{}'), "segment_ids" = coalesce("segment_ids", '{}')
WHERE "group_ids" IS NULL OR "segment_ids" IS NULL;
