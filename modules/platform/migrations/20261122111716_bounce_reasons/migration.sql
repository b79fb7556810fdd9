-- CreateEnum
CREATE TYPE "bounce_class" AS ENUM ('hard', 'soft', 'policy', 'content', 'other');

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "bounce_class" "bounce_class",
ADD COLUMN     "bounce_reason" TEXT;
