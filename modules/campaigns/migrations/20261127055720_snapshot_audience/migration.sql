-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "snapshot_audience" JSONB;
