-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "edited_by_id" TEXT,
ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "segments" ADD COLUMN     "edited_by_id" TEXT,
ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;
