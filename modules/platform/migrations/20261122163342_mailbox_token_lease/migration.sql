-- AlterTable
ALTER TABLE "mailbox_accounts" ADD COLUMN     "token_lease_until" TIMESTAMPTZ(3);
