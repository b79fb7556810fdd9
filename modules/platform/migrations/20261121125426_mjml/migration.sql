-- CreateEnum
CREATE TYPE "content_format" AS ENUM ('html', 'mjml');

-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "format" "content_format" NOT NULL DEFAULT 'html',
ADD COLUMN     "source" TEXT;

-- AlterTable
ALTER TABLE "templates" ADD COLUMN     "format" "content_format" NOT NULL DEFAULT 'html',
ADD COLUMN     "source" TEXT;
