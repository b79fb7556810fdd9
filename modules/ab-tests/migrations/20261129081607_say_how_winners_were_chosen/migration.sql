-- CreateEnum
CREATE TYPE "ab_test_decision" AS ENUM ('best_rate', 'tie', 'no_reactions');

-- AlterTable
ALTER TABLE "ab_tests" ADD COLUMN     "decision" "ab_test_decision";
