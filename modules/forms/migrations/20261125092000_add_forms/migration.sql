-- CreateTable
CREATE TABLE "forms" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT,
    "group_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "fields" JSONB NOT NULL DEFAULT '[]',
    "consent_text" TEXT,
    "double_opt_in" BOOLEAN NOT NULL DEFAULT true,
    "from" TEXT,
    "reply_to" TEXT,
    "subject" TEXT,
    "template_id" TEXT,
    "reminder_after_hours" INTEGER,
    "submitted_url" TEXT,
    "confirmed_url" TEXT,
    "allowed_origins" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "version" INTEGER NOT NULL DEFAULT 1,
    "edited_by_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "forms_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "form_submissions" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "form_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_key" TEXT NOT NULL,
    "name" TEXT,
    "custom_fields" JSONB NOT NULL DEFAULT '{}',
    "consent_text" TEXT,
    "submitted_from" TEXT,
    "submitted_at" TIMESTAMPTZ(3)[],
    "message_id" TEXT,
    "reminder_id" TEXT,
    "reminder_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),
    "confirmed_from" TEXT,
    "contact_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "form_submissions_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "forms_project_id_id_idx" ON "forms"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "forms_project_id_name_key" ON "forms"("project_id", "name");

-- CreateIndex
CREATE INDEX "form_submissions_form_id_id_idx" ON "form_submissions"("form_id", "id");

-- CreateIndex
CREATE INDEX "form_submissions_project_id_email_key_idx" ON "form_submissions"("project_id", "email_key");

-- CreateIndex
CREATE INDEX "form_submissions_contact_id_idx" ON "form_submissions"("contact_id");

-- By hand, to the end. Contacts have no foreign key: the record of a consent outlives them.
ALTER TABLE forms ADD FOREIGN KEY (project_id) REFERENCES projects ON DELETE CASCADE;
ALTER TABLE form_submissions ADD FOREIGN KEY (form_id) REFERENCES forms ON DELETE CASCADE;
CREATE UNIQUE INDEX form_submissions_open_once ON form_submissions (form_id, email_key) WHERE confirmed_at IS NULL;
CREATE INDEX form_submissions_expiring ON form_submissions (expires_at) WHERE confirmed_at IS NULL;
