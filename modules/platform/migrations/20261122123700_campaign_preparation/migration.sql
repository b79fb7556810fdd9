-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "excluded_group_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "excluded_segment_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "preview_text" TEXT,
ADD COLUMN     "utm_campaign" TEXT,
ADD COLUMN     "utm_content" TEXT,
ADD COLUMN     "utm_medium" TEXT,
ADD COLUMN     "utm_source" TEXT,
ADD COLUMN     "utm_term" TEXT;

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "resubscribed_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "projects" ADD COLUMN     "postal_address" TEXT;

-- AlterTable
ALTER TABLE "templates" ADD COLUMN     "published_version" INTEGER;

-- Until now a template's newest version was the one that is sent.
UPDATE "templates" SET "published_version" = "version" WHERE "status" = 'published';
