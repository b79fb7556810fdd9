-- CreateEnum
CREATE TYPE "import_kind" AS ENUM ('contacts', 'suppressions');

-- AlterTable
ALTER TABLE "imports" ADD COLUMN     "actor_id" TEXT,
ADD COLUMN     "kind" "import_kind" NOT NULL DEFAULT 'contacts',
ADD COLUMN     "reason" "suppression_reason";
