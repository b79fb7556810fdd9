-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "snapshot_cursor" TEXT,
ADD COLUMN     "snapshot_prefix" TEXT,
ADD COLUMN     "snapshot_until" TEXT;
