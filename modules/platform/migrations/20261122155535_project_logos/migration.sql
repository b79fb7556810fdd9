-- AlterTable
ALTER TABLE "projects" ADD COLUMN     "logo_hash" TEXT;

-- CreateTable
CREATE TABLE "project_logos" (
    "project_id" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "project_logos_pkey" PRIMARY KEY ("project_id")
);

-- CreateIndex
CREATE INDEX "project_logos_hash_idx" ON "project_logos"("hash");

-- AddForeignKey
ALTER TABLE "project_logos" ADD CONSTRAINT "project_logos_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
