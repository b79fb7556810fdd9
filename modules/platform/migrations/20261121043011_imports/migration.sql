-- CreateEnum
CREATE TYPE "import_status" AS ENUM ('uploading', 'queued', 'running', 'completed', 'failed', 'canceled');

-- CreateTable
CREATE TABLE "imports" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "status" "import_status" NOT NULL DEFAULT 'uploading',
    "file_name" TEXT,
    "size" INTEGER NOT NULL DEFAULT 0,
    "on_conflict" TEXT NOT NULL,
    "dry_run" BOOLEAN NOT NULL,
    "create_fields" BOOLEAN NOT NULL,
    "group_id" TEXT,
    "group_name" TEXT,
    "encoding" TEXT,
    "separator" TEXT,
    "mapping" JSONB,
    "plan" JSONB,
    "rows" INTEGER NOT NULL DEFAULT 0,
    "created" INTEGER NOT NULL DEFAULT 0,
    "updated" INTEGER NOT NULL DEFAULT 0,
    "unchanged" INTEGER NOT NULL DEFAULT 0,
    "duplicates" INTEGER NOT NULL DEFAULT 0,
    "suppressed" INTEGER NOT NULL DEFAULT 0,
    "invalid" INTEGER NOT NULL DEFAULT 0,
    "bytes_done" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "cancel_requested_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "imports_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "import_parts" (
    "import_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "data" BYTEA NOT NULL,

    CONSTRAINT "import_parts_pkey" PRIMARY KEY ("import_id","number")
);

-- CreateTable
CREATE TABLE "import_batches" (
    "import_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,

    CONSTRAINT "import_batches_pkey" PRIMARY KEY ("import_id","number")
);

-- CreateTable
CREATE TABLE "import_errors" (
    "import_id" TEXT NOT NULL,
    "line" INTEGER NOT NULL,
    "field" TEXT NOT NULL,
    "message" TEXT NOT NULL,

    CONSTRAINT "import_errors_pkey" PRIMARY KEY ("import_id","line","field")
);

-- CreateIndex
CREATE INDEX "imports_project_id_id_idx" ON "imports"("project_id", "id");

-- AddForeignKey
ALTER TABLE "imports" ADD CONSTRAINT "imports_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "import_parts" ADD CONSTRAINT "import_parts_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "imports"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "import_batches" ADD CONSTRAINT "import_batches_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "imports"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "import_errors" ADD CONSTRAINT "import_errors_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "imports"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- By hand: files are read once and in order, and to compress them would cost more than the space does.
ALTER TABLE "import_parts" ALTER COLUMN "data" SET STORAGE EXTERNAL;
