-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "template_version" INTEGER;

-- AlterTable
ALTER TABLE "templates" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- CreateTable
CREATE TABLE "template_versions" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "template_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "subject" TEXT,
    "body" TEXT NOT NULL,
    "format" "content_format" NOT NULL,
    "source" TEXT,
    "status" "template_status" NOT NULL,
    "restored_from" INTEGER,
    "author_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "template_versions_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "template_versions_template_id_id_idx" ON "template_versions"("template_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "template_versions_template_id_number_key" ON "template_versions"("template_id", "number");

-- AddForeignKey
ALTER TABLE "template_versions" ADD CONSTRAINT "template_versions_template_id_fkey" FOREIGN KEY ("template_id") REFERENCES "templates"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What templates say now is the first version that is known of them.
INSERT INTO template_versions (id, project_id, template_id, number, subject, body, format, source, status, created_at)
SELECT postroom_id('tpv'), project_id, id, 1, subject, body, format, source, status, updated_at FROM templates;

-- What went out once is to be found as it was.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Rows of % are never changed.', TG_TABLE_NAME;
END $$;

CREATE TRIGGER template_versions_unchanged BEFORE UPDATE ON template_versions
FOR EACH ROW EXECUTE FUNCTION refuse_change();
