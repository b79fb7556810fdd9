-- CreateTable
CREATE TABLE "held_requests" (
    "project_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "held_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "held_requests_pkey" PRIMARY KEY ("project_id","key")
);
