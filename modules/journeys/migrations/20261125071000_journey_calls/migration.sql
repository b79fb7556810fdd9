-- CreateTable
CREATE TABLE "journey_calls" (
    "id" TEXT NOT NULL,
    "enrollment_id" TEXT NOT NULL,
    "visit" INTEGER NOT NULL,
    "step_id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "acknowledged" BOOLEAN,
    "status" INTEGER,
    "error" TEXT,
    "body" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "journey_calls_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "journey_signing_secrets" (
    "project_id" TEXT NOT NULL,
    "secret" TEXT NOT NULL,

    CONSTRAINT "journey_signing_secrets_pkey" PRIMARY KEY ("project_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "journey_calls_enrollment_id_visit_key" ON "journey_calls"("enrollment_id", "visit");

-- By hand, to the end.
ALTER TABLE journey_calls ADD FOREIGN KEY (enrollment_id) REFERENCES enrollments ON DELETE CASCADE;
ALTER TABLE journey_signing_secrets ADD FOREIGN KEY (project_id) REFERENCES projects ON DELETE CASCADE;
-- Open calls by host: a host that hangs is never read on behalf of another.
CREATE INDEX journey_calls_open ON journey_calls (project_id, host, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

-- Responses may be about the contact.
CREATE OR REPLACE FUNCTION end_enrollments_of_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM journey_calls USING enrollments e, deleted_contacts c WHERE e.contact_id = c.id AND journey_calls.enrollment_id = e.id;
  UPDATE enrollments e SET properties = '{}', due_at = NULL, waits_for = NULL, visit = e.visit + CASE WHEN e.ended_at IS NULL THEN 1 ELSE 0 END,
      status = CASE WHEN e.ended_at IS NULL THEN 'exited' ELSE e.status END,
      end_reason = CASE WHEN e.ended_at IS NULL THEN 'contact_deleted' ELSE e.end_reason END, ended_at = coalesce(e.ended_at, now())
    FROM deleted_contacts c WHERE e.contact_id = c.id;
  DELETE FROM journey_triggers t USING deleted_contacts c WHERE t.contact_id = c.id;
  RETURN NULL;
END $$;
