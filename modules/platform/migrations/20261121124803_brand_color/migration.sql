-- AlterTable
ALTER TABLE "projects" ADD COLUMN     "brand_color" TEXT;
