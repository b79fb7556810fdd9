import { pool, runCostly } from '@postroom/platform';

/** How many runs went from a step to another with an outcome, on all versions. */
export interface Passage {
  /** Null if they entered. */
  stepId: string | null;
  outcome: string | null;
  /** Null if they ended. */
  toStepId: string | null;
  runCount: number;
}

const COUNT = `
  SELECT journey_id AS "journeyId", step_id AS "stepId", outcome, to_step_id AS "toStepId", sum(run_count)::int AS "runCount"
  FROM journey_passages WHERE journey_id = ANY ($1)
  GROUP BY journey_id, step_id, outcome, to_step_id ORDER BY step_id NULLS FIRST, outcome, to_step_id`;

/** The passages of each journey, including those of runs that retention has deleted. */
export async function countPassages(projectId: string, ids: readonly string[]): Promise<Map<string, Passage[]>> {
  const { rows } = await runCostly(projectId, () => pool.query<Passage & { journeyId: string }>(COUNT, [ids]));
  const byJourney = Map.groupBy(rows, ({ journeyId }) => journeyId);
  return new Map([...byJourney].map(([id, counts]) => [id, counts.map(({ journeyId: _, ...passage }) => passage)]));
}

/** The rows of a journey that are left as they are: reading them takes less than a millisecond. */
const MANY = 500;

/**
 * Differences that are added up for the journeys that have many: which those are, and the statement. Two merges of a journey at once merge
 * different rows, because the second does not find what the first deleted.
 */
const MERGES = [
  {
    journeys: 'SELECT journey_id AS id FROM journey_passages GROUP BY journey_id HAVING count(*) > $1',
    merge: `WITH merged AS (DELETE FROM journey_passages WHERE journey_id = $1 RETURNING journey_id, step_id, outcome, to_step_id, run_count)
      INSERT INTO journey_passages (journey_id, step_id, outcome, to_step_id, run_count) SELECT journey_id, step_id, outcome, to_step_id, sum(run_count) FROM merged GROUP BY journey_id, step_id, outcome, to_step_id`,
  },
  {
    journeys: 'SELECT journey_id AS id FROM journey_run_counts GROUP BY journey_id HAVING count(*) > $1',
    merge: `WITH merged AS (DELETE FROM journey_run_counts WHERE journey_id = $1 RETURNING journey_id, version, step_id, status, reached_goal, run_count)
      INSERT INTO journey_run_counts (journey_id, version, step_id, status, reached_goal, run_count)
      SELECT journey_id, version, step_id, status, reached_goal, sum(run_count) FROM merged GROUP BY journey_id, version, step_id, status, reached_goal HAVING sum(run_count) <> 0`,
  },
];

/** Adds up the differences of journeys that have many rows. */
export async function mergeCounts(onBatch: () => void): Promise<void> {
  for (const { journeys, merge } of MERGES) {
    const { rows } = await pool.query<{ id: string }>(journeys, [MANY]);
    for (const { id } of rows) {
      await pool.query(merge, [id]);
      onBatch();
    }
  }
}
