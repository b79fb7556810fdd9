-- CreateTable
CREATE TABLE "journey_passages" (
    "id" BIGSERIAL NOT NULL,
    "journey_id" TEXT NOT NULL,
    "step_id" TEXT,
    "outcome" TEXT,
    "to_step_id" TEXT,
    "run_count" INTEGER NOT NULL,

    CONSTRAINT "journey_passages_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "journey_passages_journey_id_idx" ON "journey_passages"("journey_id");

-- By hand, to the end.
ALTER TABLE journey_passages ADD FOREIGN KEY (journey_id) REFERENCES journeys ON DELETE CASCADE;

-- Triggers, so that no code path that moves runs can forget to count them. A page of runs adds a row for each way that they go,
-- and updates none, so that pages do not wait for each other.
CREATE FUNCTION count_journey_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO journey_passages (journey_id, to_step_id, run_count)
  SELECT journey_id, step_id, count(*) FROM inserted_enrollments GROUP BY journey_id, step_id;
  RETURN NULL;
END $$;
CREATE TRIGGER count_entries AFTER INSERT ON enrollments
  REFERENCING NEW TABLE AS inserted_enrollments FOR EACH STATEMENT EXECUTE FUNCTION count_journey_entries();

-- The run has moved already. One that ends stays at the step it left, unless it has arrived at an exit.
CREATE FUNCTION count_journey_passages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO journey_passages (journey_id, step_id, outcome, to_step_id, run_count)
  SELECT e.journey_id, s.step_id, s.outcome, CASE WHEN e.ended_at IS NULL OR e.end_reason = 'exit' THEN e.step_id END, count(*)
    FROM left_steps s JOIN enrollments e ON e.id = s.enrollment_id
   WHERE s.outcome <> 'new_version'
   GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END $$;
CREATE TRIGGER count_passages AFTER INSERT ON enrollment_steps
  REFERENCING NEW TABLE AS left_steps FOR EACH STATEMENT EXECUTE FUNCTION count_journey_passages();

-- What happened before. The triggers above keep both tables from being written until the end of the transaction.
INSERT INTO journey_passages (journey_id, step_id, outcome, to_step_id, run_count)
SELECT e.journey_id, s.step_id, s.outcome,
    coalesce(n.step_id, CASE WHEN e.ended_at IS NULL OR e.end_reason = 'exit' OR e.visit > s.visit + 1 THEN e.step_id END), count(*)
  FROM enrollment_steps s JOIN enrollments e ON e.id = s.enrollment_id
  LEFT JOIN enrollment_steps n ON n.enrollment_id = s.enrollment_id AND n.visit = s.visit + 1
 WHERE s.outcome <> 'new_version'
 GROUP BY 1, 2, 3, 4;
INSERT INTO journey_passages (journey_id, to_step_id, run_count)
SELECT e.journey_id, coalesce(s.step_id, e.step_id), count(*)
  FROM enrollments e LEFT JOIN enrollment_steps s ON s.enrollment_id = e.id AND s.visit = 1
 GROUP BY 1, 2;
