-- AlterTable
ALTER TABLE "sending_policies" ADD COLUMN     "frequency_cap_days" INTEGER NOT NULL DEFAULT 7,
ADD COLUMN     "frequency_cap_messages" INTEGER;
