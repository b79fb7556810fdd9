-- CreateEnum
CREATE TYPE "mail_provider_kind" AS ENUM ('smtp', 'ses');

-- CreateEnum
CREATE TYPE "connection_status" AS ENUM ('untested', 'working', 'failing');

-- CreateEnum
CREATE TYPE "mailbox_host" AS ENUM ('gmail', 'microsoft', 'other');

-- CreateEnum
CREATE TYPE "mailbox_sign_in" AS ENUM ('password', 'oauth2');

-- CreateEnum
CREATE TYPE "mailbox_status" AS ENUM ('connecting', 'connected', 'needs_attention');

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "mailbox_id" TEXT;

-- CreateTable
CREATE TABLE "mail_providers" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "domain" TEXT NOT NULL DEFAULT '',
    "position" INTEGER NOT NULL DEFAULT 1,
    "name" TEXT NOT NULL,
    "kind" "mail_provider_kind" NOT NULL,
    "settings" JSONB NOT NULL,
    "credentials" TEXT,
    "token" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "status" "connection_status" NOT NULL DEFAULT 'untested',
    "status_reason" TEXT,
    "checked_at" TIMESTAMPTZ(3),
    "subscribed_at" TIMESTAMPTZ(3),
    "notified_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mail_providers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "provider_notifications" (
    "provider_id" TEXT NOT NULL,
    "message_id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "provider_notifications_pkey" PRIMARY KEY ("provider_id","message_id")
);

-- CreateTable
CREATE TABLE "mailbox_accounts" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_key" TEXT NOT NULL,
    "provider" "mailbox_host" NOT NULL,
    "host" TEXT NOT NULL,
    "port" INTEGER NOT NULL,
    "implicit_tls" BOOLEAN NOT NULL,
    "username" TEXT NOT NULL,
    "sign_in" "mailbox_sign_in" NOT NULL,
    "tenant" TEXT,
    "credentials" TEXT NOT NULL,
    "status" "mailbox_status" NOT NULL DEFAULT 'connecting',
    "status_reason" TEXT,
    "checked_at" TIMESTAMPTZ(3),
    "per_minute" INTEGER NOT NULL,
    "daily_cap" INTEGER NOT NULL,
    "next_send_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mailbox_accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "mailbox_usage" (
    "mailbox_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "mailbox_usage_pkey" PRIMARY KEY ("mailbox_id","hour")
);

-- CreateTable
CREATE TABLE "mailbox_authorizations" (
    "id" TEXT NOT NULL,
    "mailbox_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "verifier" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mailbox_authorizations_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "mail_providers_token_key" ON "mail_providers"("token");

-- CreateIndex
CREATE INDEX "mail_providers_project_id_domain_position_idx" ON "mail_providers"("project_id", "domain", "position");

-- CreateIndex
CREATE INDEX "provider_notifications_received_at_idx" ON "provider_notifications"("received_at");

-- CreateIndex
CREATE UNIQUE INDEX "mailbox_accounts_project_id_email_key_key" ON "mailbox_accounts"("project_id", "email_key");

-- CreateIndex
CREATE INDEX "mailbox_authorizations_expires_at_idx" ON "mailbox_authorizations"("expires_at");

-- AddForeignKey
ALTER TABLE "mail_providers" ADD CONSTRAINT "mail_providers_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "provider_notifications" ADD CONSTRAINT "provider_notifications_provider_id_fkey" FOREIGN KEY ("provider_id") REFERENCES "mail_providers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mailbox_accounts" ADD CONSTRAINT "mailbox_accounts_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mailbox_usage" ADD CONSTRAINT "mailbox_usage_mailbox_id_fkey" FOREIGN KEY ("mailbox_id") REFERENCES "mailbox_accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mailbox_authorizations" ADD CONSTRAINT "mailbox_authorizations_mailbox_id_fkey" FOREIGN KEY ("mailbox_id") REFERENCES "mailbox_accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a mailbox account has in hand, and what is canceled with it. Only its few transactional rows are in it.
CREATE INDEX "messages_mailbox_idx" ON "messages"("mailbox_id") WHERE "mailbox_id" IS NOT NULL AND "campaign_id" IS NULL;
