-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "zone" TEXT;
