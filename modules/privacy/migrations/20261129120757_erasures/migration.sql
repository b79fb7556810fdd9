-- CreateTable
CREATE TABLE "erasures" (
    "id" UUID NOT NULL,
    "project_id" TEXT NOT NULL,
    "contact_id" TEXT,
    "spellings" TEXT[],
    "alias" TEXT NOT NULL,
    "searched" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "cursor" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "erasures_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "erasures_project_id_idx" ON "erasures"("project_id");

-- AddForeignKey
ALTER TABLE "erasures" ADD CONSTRAINT "erasures_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
