-- AlterTable
ALTER TABLE "attempts" ADD COLUMN     "project_id" TEXT,
ADD COLUMN     "xact" BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text)::bigint;

-- Those that are there are of the projects of their deliveries.
UPDATE "attempts" SET "project_id" = "deliveries"."project_id" FROM "deliveries" WHERE "deliveries"."id" = "attempts"."delivery_id";
ALTER TABLE "attempts" ALTER COLUMN "project_id" SET NOT NULL;

-- CreateIndex
CREATE INDEX "attempts_project_id_xact_idx" ON "attempts"("project_id", "xact");
