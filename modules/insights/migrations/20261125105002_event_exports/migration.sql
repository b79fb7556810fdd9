-- CreateTable
CREATE TABLE "event_exports" (
    "project_id" TEXT NOT NULL,
    "run" INTEGER NOT NULL DEFAULT 1,
    "xact" BIGINT NOT NULL DEFAULT 0,
    "until" BIGINT,

    CONSTRAINT "event_exports_pkey" PRIMARY KEY ("project_id")
);

-- By hand: as all that belongs to a project.
ALTER TABLE event_exports ADD FOREIGN KEY (project_id) REFERENCES projects ON DELETE CASCADE;
