-- AlterTable
ALTER TABLE "journey_versions" ADD COLUMN     "applied_to" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "unapplied" TEXT;

-- CreateTable
CREATE TABLE "journey_run_counts" (
    "id" BIGSERIAL NOT NULL,
    "journey_id" TEXT NOT NULL,
    "version" INTEGER,
    "step_id" TEXT,
    "status" "enrollment_status" NOT NULL,
    "reached_goal" BOOLEAN NOT NULL,
    "run_count" INTEGER NOT NULL,

    CONSTRAINT "journey_run_counts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "journey_run_counts_journey_id_idx" ON "journey_run_counts"("journey_id");

-- By hand, to the end.
ALTER TABLE journey_run_counts ADD FOREIGN KEY (journey_id) REFERENCES journeys ON DELETE CASCADE;
CREATE INDEX journey_versions_unapplied ON journey_versions (journey_id, number) WHERE unapplied IS NOT NULL;

-- Triggers, as for journey_passages. The runs of a journey that is deleted with its project may be deleted after it.
CREATE FUNCTION count_journey_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO journey_run_counts (journey_id, version, step_id, status, reached_goal, run_count)
    SELECT journey_id, CASE WHEN ended_at IS NULL THEN version END, CASE WHEN ended_at IS NULL THEN step_id END, status,
        end_reason IS NOT DISTINCT FROM 'goal', count(*)
      FROM new_runs GROUP BY 1, 2, 3, 4, 5;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO journey_run_counts (journey_id, version, step_id, status, reached_goal, run_count)
    SELECT journey_id, CASE WHEN ended_at IS NULL THEN version END, CASE WHEN ended_at IS NULL THEN step_id END, status,
        end_reason IS NOT DISTINCT FROM 'goal', sum(difference)
      FROM (SELECT *, 1 AS difference FROM new_runs UNION ALL SELECT *, -1 FROM old_runs) AS runs
     GROUP BY 1, 2, 3, 4, 5 HAVING sum(difference) <> 0;
  ELSE
    INSERT INTO journey_run_counts (journey_id, version, step_id, status, reached_goal, run_count)
    SELECT journey_id, CASE WHEN ended_at IS NULL THEN version END, CASE WHEN ended_at IS NULL THEN step_id END, status,
        end_reason IS NOT DISTINCT FROM 'goal', -count(*)
      FROM old_runs WHERE EXISTS (SELECT FROM journeys WHERE id = journey_id) GROUP BY 1, 2, 3, 4, 5;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_new_runs AFTER INSERT ON enrollments
  REFERENCING NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION count_journey_runs();
CREATE TRIGGER count_changed_runs AFTER UPDATE ON enrollments
  REFERENCING OLD TABLE AS old_runs NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION count_journey_runs();
CREATE TRIGGER count_deleted_runs AFTER DELETE ON enrollments
  REFERENCING OLD TABLE AS old_runs FOR EACH STATEMENT EXECUTE FUNCTION count_journey_runs();

-- What is there. The triggers above keep the table from being written until the end of the transaction.
INSERT INTO journey_run_counts (journey_id, version, step_id, status, reached_goal, run_count)
SELECT journey_id, CASE WHEN ended_at IS NULL THEN version END, CASE WHEN ended_at IS NULL THEN step_id END, status,
    end_reason IS NOT DISTINCT FROM 'goal', count(*)
  FROM enrollments GROUP BY 1, 2, 3, 4, 5;
