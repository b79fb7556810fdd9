-- CreateEnum
CREATE TYPE "bulk_action" AS ENUM ('add_to_group', 'remove_from_group', 'suppress', 'unsubscribe', 'delete');

-- CreateEnum
CREATE TYPE "bulk_status" AS ENUM ('running', 'completed', 'failed', 'canceled');

-- CreateTable
CREATE TABLE "bulk_operations" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "action" "bulk_action" NOT NULL,
    "filter" JSONB NOT NULL,
    "group_id" TEXT,
    "group_name" TEXT,
    "actor_id" TEXT NOT NULL,
    "status" "bulk_status" NOT NULL DEFAULT 'running',
    "total" INTEGER NOT NULL,
    "processed" INTEGER NOT NULL DEFAULT 0,
    "changed" INTEGER NOT NULL DEFAULT 0,
    "cursor" TEXT NOT NULL,
    "error" TEXT,
    "cancel_requested_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "bulk_operations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "contact_views" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "search" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contact_views_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "segment_sizes" (
    "segment_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "size" INTEGER NOT NULL,

    CONSTRAINT "segment_sizes_pkey" PRIMARY KEY ("segment_id","day")
);

-- CreateIndex
CREATE INDEX "bulk_operations_project_id_id_idx" ON "bulk_operations"("project_id", "id");

-- CreateIndex
CREATE INDEX "contact_views_user_id_idx" ON "contact_views"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "contact_views_project_id_user_id_name_key" ON "contact_views"("project_id", "user_id", "name");

-- AddForeignKey
ALTER TABLE "bulk_operations" ADD CONSTRAINT "bulk_operations_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_views" ADD CONSTRAINT "contact_views_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_views" ADD CONSTRAINT "contact_views_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "segment_sizes" ADD CONSTRAINT "segment_sizes_segment_id_fkey" FOREIGN KEY ("segment_id") REFERENCES "segments"("id") ON DELETE CASCADE ON UPDATE CASCADE;
