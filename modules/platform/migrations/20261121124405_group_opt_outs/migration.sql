-- AlterTable
ALTER TABLE "groups" ADD COLUMN     "public_name" TEXT;

-- CreateTable
CREATE TABLE "group_opt_outs" (
    "group_id" TEXT NOT NULL,
    "contact_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "group_opt_outs_pkey" PRIMARY KEY ("group_id","contact_id")
);

-- CreateIndex
CREATE INDEX "group_opt_outs_contact_id_idx" ON "group_opt_outs"("contact_id");

-- AddForeignKey
ALTER TABLE "group_opt_outs" ADD CONSTRAINT "group_opt_outs_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;
