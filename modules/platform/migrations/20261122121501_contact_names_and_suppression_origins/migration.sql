-- CreateEnum
CREATE TYPE "suppression_origin" AS ENUM ('recipient', 'report', 'user', 'api', 'import');

-- AlterTable
ALTER TABLE "suppressions" ADD COLUMN     "added_by_id" TEXT,
ADD COLUMN     "origin" "suppression_origin";
