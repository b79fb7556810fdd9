-- CreateTable
CREATE TABLE "contact_addresses" (
    "contact_id" TEXT NOT NULL,
    "email_key" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contact_addresses_pkey" PRIMARY KEY ("contact_id","email_key")
);

-- CreateIndex
CREATE INDEX "contact_addresses_project_id_email_key_idx" ON "contact_addresses"("project_id", "email_key");

-- AddForeignKey
ALTER TABLE "contact_addresses" ADD CONSTRAINT "contact_addresses_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
