-- CreateEnum
CREATE TYPE "hit_kind" AS ENUM ('open', 'click');

-- CreateEnum
CREATE TYPE "hit_verdict" AS ENUM ('person', 'machine');

-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "machine_clicked_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "machine_opened_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "track_clicks" BOOLEAN,
ADD COLUMN     "track_opens" BOOLEAN;

-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "tracking_domain" TEXT;

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "machine_clicked_at" TIMESTAMPTZ(3),
ADD COLUMN     "machine_opened_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "message_contents" ADD COLUMN     "track_clicks" BOOLEAN,
ADD COLUMN     "track_opens" BOOLEAN;

-- AlterTable
ALTER TABLE "projects" ADD COLUMN     "track_clicks" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "track_opens" BOOLEAN NOT NULL DEFAULT true;

-- CreateTable
CREATE TABLE "tracked_links" (
    "owner_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "url" TEXT NOT NULL,
    "clicks" INTEGER NOT NULL DEFAULT 0,
    "unique_clicks" INTEGER NOT NULL DEFAULT 0,
    "machine_clicks" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "tracked_links_pkey" PRIMARY KEY ("owner_id","position")
);

-- CreateTable
CREATE TABLE "tracking_hits" (
    "id" BIGSERIAL NOT NULL,
    "message_id" TEXT NOT NULL,
    "project_id" TEXT,
    "kind" "hit_kind" NOT NULL,
    "position" INTEGER,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "user_agent" TEXT,
    "network" TEXT,
    "verdict" "hit_verdict",
    "reason" TEXT,
    "is_first" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "tracking_hits_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "soft_bounce_streaks" (
    "project_id" TEXT NOT NULL,
    "email_key" TEXT NOT NULL,
    "bounces" INTEGER NOT NULL,
    "last_message" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "soft_bounce_streaks_pkey" PRIMARY KEY ("project_id","email_key")
);

-- CreateIndex
CREATE INDEX "tracking_hits_message_id_idx" ON "tracking_hits"("message_id");

-- What waits to be judged, in the order in which it came.
CREATE INDEX "tracking_hits_unjudged" ON "tracking_hits"("id") WHERE "verdict" IS NULL;

-- Statistics count the first hits of a project's messages in a period.
CREATE INDEX "tracking_hits_first" ON "tracking_hits"("project_id", "at") WHERE "is_first";

-- Old hits are deleted by time, in which they are stored.
CREATE INDEX "tracking_hits_at" ON "tracking_hits" USING brin ("at");
