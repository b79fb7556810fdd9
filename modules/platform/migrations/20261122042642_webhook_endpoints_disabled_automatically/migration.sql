-- AlterTable
ALTER TABLE "webhook_endpoints" ADD COLUMN     "disabled_automatically" BOOLEAN NOT NULL DEFAULT false;

-- Whoever was disabled before this column was there, and not by hand, was disabled automatically.
UPDATE "webhook_endpoints" SET "disabled_automatically" = true WHERE NOT "enabled" AND "disabled_reason" <> 'Disabled by hand.';
