-- AlterTable
ALTER TABLE "notification_recipients" ADD COLUMN     "mail_closed_at" TIMESTAMPTZ(3);

-- Those recorded so far have had their workflow.
UPDATE "notification_recipients" SET "mail_closed_at" = now();

-- What the sweep reads every few seconds.
CREATE INDEX "notification_recipients_to_mail" ON "notification_recipients" ("notification_id") WHERE "mail_closed_at" IS NULL;
