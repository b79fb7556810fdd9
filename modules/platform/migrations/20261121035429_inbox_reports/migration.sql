-- CreateTable
CREATE TABLE "inbox_reports" (
    "id" BIGSERIAL NOT NULL,
    "message_id" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "detail" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "inbox_reports_pkey" PRIMARY KEY ("id")
);
