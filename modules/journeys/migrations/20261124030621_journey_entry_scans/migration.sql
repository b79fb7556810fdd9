-- AlterEnum
ALTER TYPE "journey_trigger_kind" ADD VALUE 'entry';

-- CreateTable
CREATE TABLE "journey_entry_scans" (
    "journey_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "scanned_at" TIMESTAMPTZ(3),

    CONSTRAINT "journey_entry_scans_pkey" PRIMARY KEY ("journey_id")
);

-- CreateTable
CREATE TABLE "journey_segment_members" (
    "journey_id" TEXT NOT NULL,
    "contact_id" TEXT NOT NULL,

    CONSTRAINT "journey_segment_members_pkey" PRIMARY KEY ("journey_id","contact_id")
);

ALTER TABLE journey_entry_scans ADD FOREIGN KEY (journey_id) REFERENCES journeys ON DELETE CASCADE;

-- Members have no foreign key, whose check would double the cost of a large segment.
CREATE OR REPLACE FUNCTION delete_enrollments_of_journeys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM enrollment_steps s USING enrollments e, deleted_journeys j WHERE e.journey_id = j.id AND s.enrollment_id = e.id;
  DELETE FROM enrollments e USING deleted_journeys j WHERE e.journey_id = j.id;
  DELETE FROM journey_triggers t USING deleted_journeys j WHERE t.journey_id = j.id;
  DELETE FROM journey_segment_members m USING deleted_journeys j WHERE m.journey_id = j.id;
  RETURN NULL;
END $$;
