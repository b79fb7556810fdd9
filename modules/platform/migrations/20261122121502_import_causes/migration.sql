-- AlterTable
ALTER TABLE "imports" ADD COLUMN     "executed_as_id" TEXT,
ADD COLUMN     "file_expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "incomplete" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "skip_invalid" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "import_causes" (
    "import_id" TEXT NOT NULL,
    "field" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "rows" INTEGER NOT NULL,
    "first_line" INTEGER NOT NULL,

    CONSTRAINT "import_causes_pkey" PRIMARY KEY ("import_id","field","message","value")
);

-- CreateIndex
CREATE INDEX "imports_file_expires_at_idx" ON "imports"("file_expires_at");

-- AddForeignKey
ALTER TABLE "import_causes" ADD CONSTRAINT "import_causes_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "imports"("id") ON DELETE CASCADE ON UPDATE CASCADE;
