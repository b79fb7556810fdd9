-- CreateEnum
CREATE TYPE "journey_status" AS ENUM ('draft', 'active', 'paused', 'archived');

-- CreateEnum
CREATE TYPE "journey_trigger_kind" AS ENUM ('event', 'group');

-- CreateEnum
CREATE TYPE "enrollment_status" AS ENUM ('active', 'paused', 'completed', 'exited');

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "needs_consent" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "journeys" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "status" "journey_status" NOT NULL DEFAULT 'draft',
    "draft" JSONB NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "published_version" INTEGER,
    "paused_reason" TEXT,
    "edited_by_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "published_at" TIMESTAMPTZ(3),

    CONSTRAINT "journeys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "journey_versions" (
    "journey_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "definition" JSONB NOT NULL,
    "published_by_id" TEXT NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "journey_versions_pkey" PRIMARY KEY ("journey_id","number")
);

-- CreateTable
CREATE TABLE "journey_listeners" (
    "project_id" TEXT NOT NULL,
    "kind" "journey_trigger_kind" NOT NULL,
    "key" TEXT NOT NULL,
    "journey_id" TEXT NOT NULL,

    CONSTRAINT "journey_listeners_pkey" PRIMARY KEY ("kind","key","project_id","journey_id")
);

-- CreateTable
CREATE TABLE "journey_triggers" (
    "id" BIGSERIAL NOT NULL,
    "journey_id" TEXT NOT NULL,
    "kind" "journey_trigger_kind" NOT NULL,
    "key" TEXT NOT NULL,
    "contact_id" TEXT NOT NULL,
    "properties" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "journey_triggers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "enrollments" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "journey_id" TEXT NOT NULL,
    "contact_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "status" "enrollment_status" NOT NULL DEFAULT 'active',
    "step_id" TEXT NOT NULL,
    "visit" INTEGER NOT NULL DEFAULT 1,
    "due_at" TIMESTAMPTZ(3),
    "waits_for" TEXT,
    "properties" JSONB NOT NULL DEFAULT '{}',
    "arrived_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "entered_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "end_reason" TEXT,

    CONSTRAINT "enrollments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "enrollment_steps" (
    "enrollment_id" TEXT NOT NULL,
    "visit" INTEGER NOT NULL,
    "step_id" TEXT NOT NULL,
    "arrived_at" TIMESTAMPTZ(3) NOT NULL,
    "left_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "outcome" TEXT NOT NULL,
    "detail" TEXT,
    "message_id" TEXT,

    CONSTRAINT "enrollment_steps_pkey" PRIMARY KEY ("enrollment_id","visit")
);

-- CreateIndex
CREATE INDEX "journeys_project_id_id_idx" ON "journeys"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "journeys_project_id_name_key" ON "journeys"("project_id", "name");

-- CreateIndex
CREATE INDEX "journey_listeners_journey_id_idx" ON "journey_listeners"("journey_id");

-- CreateIndex
CREATE INDEX "journey_triggers_journey_id_id_idx" ON "journey_triggers"("journey_id", "id");

-- CreateIndex
CREATE INDEX "journey_triggers_contact_id_idx" ON "journey_triggers"("contact_id");

-- CreateIndex
CREATE INDEX "enrollments_journey_id_id_idx" ON "enrollments"("journey_id", "id");

-- CreateIndex
CREATE INDEX "enrollments_contact_id_journey_id_entered_at_idx" ON "enrollments"("contact_id", "journey_id", "entered_at");

-- AddForeignKey
ALTER TABLE "journey_versions" ADD CONSTRAINT "journey_versions_journey_id_fkey" FOREIGN KEY ("journey_id") REFERENCES "journeys"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- By hand, to the end. Projects know nothing about journeys.
ALTER TABLE journeys ADD FOREIGN KEY (project_id) REFERENCES projects ON DELETE CASCADE;
ALTER TABLE journey_listeners ADD FOREIGN KEY (journey_id) REFERENCES journeys ON DELETE CASCADE;

-- A contact is at most once in a journey at a time.
CREATE UNIQUE INDEX enrollments_open ON enrollments (journey_id, contact_id) WHERE ended_at IS NULL;
-- The queue: a claim reads its beginning, and contacts that wait are not touched.
CREATE INDEX enrollments_due ON enrollments (journey_id, due_at) WHERE status = 'active' AND due_at IS NOT NULL;
-- Each transition changes due_at; free space keeps the new versions of rows on their pages.
ALTER TABLE enrollments SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

-- Triggers, so that no code path that writes events or members can forget journeys. The first query makes them cheap for the
-- statements that no journey listens to.
CREATE FUNCTION trigger_journeys_by_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  found integer;
BEGIN
  IF NOT EXISTS (SELECT FROM journey_listeners WHERE kind = 'event') THEN RETURN NULL; END IF;
  INSERT INTO journey_triggers (journey_id, kind, key, contact_id, properties)
  SELECT l.journey_id, 'event', e.name, e.contact_id, e.properties
    FROM inserted_events e JOIN journey_listeners l ON l.kind = 'event' AND l.key = e.name AND l.project_id = e.project_id
   ORDER BY e.occurred_at, e.id;
  GET DIAGNOSTICS found = ROW_COUNT;
  IF found > 0 THEN PERFORM pg_notify('postroom', 'journeys'); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER trigger_journeys AFTER INSERT ON custom_events
  REFERENCING NEW TABLE AS inserted_events FOR EACH STATEMENT EXECUTE FUNCTION trigger_journeys_by_events();

CREATE FUNCTION trigger_journeys_by_members() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  found integer;
BEGIN
  IF NOT EXISTS (SELECT FROM journey_listeners WHERE kind = 'group') THEN RETURN NULL; END IF;
  INSERT INTO journey_triggers (journey_id, kind, key, contact_id)
  SELECT l.journey_id, 'group', m.group_id, m.contact_id
    FROM inserted_members m JOIN journey_listeners l ON l.kind = 'group' AND l.key = m.group_id;
  GET DIAGNOSTICS found = ROW_COUNT;
  IF found > 0 THEN PERFORM pg_notify('postroom', 'journeys'); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER trigger_journeys AFTER INSERT ON group_members
  REFERENCING NEW TABLE AS inserted_members FOR EACH STATEMENT EXECUTE FUNCTION trigger_journeys_by_members();

-- The runs of a deleted contact end. The figures of the journey keep them, without what the contact did.
CREATE FUNCTION end_enrollments_of_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE enrollments e SET properties = '{}', due_at = NULL, waits_for = NULL, visit = e.visit + CASE WHEN e.ended_at IS NULL THEN 1 ELSE 0 END,
      status = CASE WHEN e.ended_at IS NULL THEN 'exited' ELSE e.status END,
      end_reason = CASE WHEN e.ended_at IS NULL THEN 'contact_deleted' ELSE e.end_reason END, ended_at = coalesce(e.ended_at, now())
    FROM deleted_contacts c WHERE e.contact_id = c.id;
  DELETE FROM journey_triggers t USING deleted_contacts c WHERE t.contact_id = c.id;
  RETURN NULL;
END $$;
CREATE TRIGGER end_enrollments AFTER DELETE ON contacts
  REFERENCING OLD TABLE AS deleted_contacts FOR EACH STATEMENT EXECUTE FUNCTION end_enrollments_of_contacts();

CREATE FUNCTION delete_enrollments_of_journeys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM enrollment_steps s USING enrollments e, deleted_journeys j WHERE e.journey_id = j.id AND s.enrollment_id = e.id;
  DELETE FROM enrollments e USING deleted_journeys j WHERE e.journey_id = j.id;
  DELETE FROM journey_triggers t USING deleted_journeys j WHERE t.journey_id = j.id;
  RETURN NULL;
END $$;
CREATE TRIGGER delete_enrollments AFTER DELETE ON journeys
  REFERENCING OLD TABLE AS deleted_journeys FOR EACH STATEMENT EXECUTE FUNCTION delete_enrollments_of_journeys();
