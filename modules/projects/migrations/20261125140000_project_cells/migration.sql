-- A new table, and a function that no trigger uses until a project is moved: programs of the previous release don't notice either.
CREATE TYPE "project_cell_state" AS ENUM ('moving', 'moved', 'here');

CREATE TABLE "project_cells" (
    "project_id" TEXT NOT NULL,
    "cell" TEXT NOT NULL,
    "state" "project_cell_state" NOT NULL,
    "move_id" TEXT NOT NULL,
    "late_hits_moved" BOOLEAN NOT NULL DEFAULT false,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "project_cells_pkey" PRIMARY KEY ("project_id")
);

-- By hand: the fence of a project that is being moved. Its triggers are created by "postroom move-project" and exist only during a move.
-- Arguments: the project's id, and SQL of whether the row `t` belongs to the project `$1`; without it, WHEN has decided.
CREATE FUNCTION refuse_moving_project() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  belongs boolean := true;
BEGIN
  IF TG_NARGS > 1 THEN
    IF TG_OP = 'DELETE' THEN
      EXECUTE 'SELECT EXISTS (SELECT FROM (SELECT ($2).*) AS t WHERE ' || TG_ARGV[1] || ')' INTO belongs USING TG_ARGV[0], OLD;
    ELSE
      EXECUTE 'SELECT EXISTS (SELECT FROM (SELECT ($2).*) AS t WHERE ' || TG_ARGV[1] || ')' INTO belongs USING TG_ARGV[0], NEW;
    END IF;
  END IF;
  -- A code of class 55 (object not in prerequisite state), so that background work tries again later.
  IF belongs THEN
    RAISE EXCEPTION 'The project % is being moved to another cell.', TG_ARGV[0] USING ERRCODE = '55M01';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
