-- CreateTable
CREATE TABLE "statistics_counts" (
    "project_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "number" INTEGER NOT NULL,

    CONSTRAINT "statistics_counts_pkey" PRIMARY KEY ("project_id","at","kind")
);

-- CreateTable
CREATE TABLE "statistics_progress" (
    "project_id" TEXT NOT NULL,
    "xact" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "statistics_progress_pkey" PRIMARY KEY ("project_id")
);

-- By hand, to the end.
ALTER TABLE statistics_counts ADD FOREIGN KEY (project_id) REFERENCES projects ON DELETE CASCADE;
ALTER TABLE statistics_progress ADD FOREIGN KEY (project_id) REFERENCES projects ON DELETE CASCADE;

-- Hits become first hits when they are classified, by one process at a time, so these rows are not contended. A trigger counts also
-- what gateways of the previous version classify.
CREATE FUNCTION count_first_hits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO statistics_counts AS c (project_id, at, kind, number)
  SELECT n.project_id, date_bin('15 minutes', n.at, 'epoch'), n.kind || ' ' || n.verdict, count(*)
    FROM classified n JOIN before b ON b.id = n.id WHERE n.is_first AND NOT b.is_first
   GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (project_id, at, kind) DO UPDATE SET number = c.number + excluded.number;
  RETURN NULL;
END $$;
CREATE TRIGGER count_first_hits AFTER UPDATE ON tracking_hits
  REFERENCING OLD TABLE AS before NEW TABLE AS classified FOR EACH STATEMENT EXECUTE FUNCTION count_first_hits();

-- Those until now. The trigger keeps the table from being written until the end of the transaction.
INSERT INTO statistics_counts (project_id, at, kind, number)
SELECT h.project_id, date_bin('15 minutes', h.at, 'epoch'), h.kind || ' ' || h.verdict, count(*)
  FROM tracking_hits h JOIN projects p ON p.id = h.project_id WHERE h.is_first GROUP BY 1, 2, 3;
