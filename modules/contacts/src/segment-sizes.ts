import { hasCode, isOutage, logger, paceBulkWork, pool, QUERY_CANCELED, sql } from '@postroom/platform';
import type { SegmentFilter } from '@postroom/segment-filters';
import { countFilters, problemsOfFilters } from './segments.ts';

/** How long sizes are kept, in days. */
export const SIZES_KEPT_DAYS = 400;

export interface SegmentSize {
  /** YYYY-MM-DD, in UTC. */
  day: string;
  size: number;
}

interface Project {
  projectId: string;
  segments: { id: string; filter: SegmentFilter }[];
}

/**
 * Records today's size of each segment that has none yet: one statement counts all segments of a project. It may run
 * several times a day. A segment that names what was deleted has none.
 * @returns the number of sizes recorded.
 */
export async function recordSizes(signal: AbortSignal, onProject: () => void = () => {}): Promise<number> {
  const projects = await sql<Project>(
    pool,
    `SELECT project_id AS "projectId", json_agg(json_build_object('id', id, 'filter', filter)) AS segments FROM segments s
     WHERE NOT EXISTS (SELECT FROM segment_sizes WHERE segment_id = s.id AND day = (now() AT TIME ZONE 'UTC')::date)
     GROUP BY project_id`,
    [],
  );
  let recorded = 0;
  for (const { projectId, segments } of projects) {
    signal.throwIfAborted();
    const began = performance.now();
    const sizes = await countFilters(
      projectId,
      segments.map(({ filter }) => filter),
    ).catch((error: unknown) => skipProject(projectId, error));
    if (sizes === undefined) continue;
    const problemsOf = await problemsOfFilters(
      projectId,
      segments.map(({ filter }) => filter),
    );
    const counted = segments
      .map(({ id }, index) => ({ id, size: sizes[index] }))
      .filter((_, index) => problemsOf[index]?.length === 0);
    await sql(
      pool,
      `INSERT INTO segment_sizes (segment_id, day, size)
       SELECT n.id, (now() AT TIME ZONE 'UTC')::date, n.size FROM unnest($1::text[], $2::int[]) AS n(id, size) JOIN segments s ON s.id = n.id
       ON CONFLICT DO NOTHING`,
      [counted.map(({ id }) => id), counted.map(({ size }) => size)],
    );
    recorded += counted.length;
    onProject();
    await paceBulkWork(projectId, performance.now() - began, signal);
  }
  return recorded;
}

/** Logs why the segments of a project could not be counted, so that those of other projects are. @throws an outage */
function skipProject(projectId: string, error: unknown): undefined {
  if (isOutage(error) && !hasCode(error, QUERY_CANCELED)) throw error;
  logger.error({ err: error, projectId }, 'could not count the segments of a project; the next run tries again');
}

/** The recorded sizes of segments in the last days, oldest first, by segment id. */
export async function sizesOf(
  projectId: string,
  segmentIds: readonly string[],
  days: number,
): Promise<Map<string, SegmentSize[]>> {
  const rows = await sql<SegmentSize & { segmentId: string }>(
    pool,
    `SELECT z.segment_id AS "segmentId", z.day::text AS day, z.size FROM segment_sizes z JOIN segments s ON s.id = z.segment_id
     WHERE s.project_id = $1 AND z.segment_id = ANY ($2) AND z.day > (now() AT TIME ZONE 'UTC')::date - $3::int ORDER BY z.day`,
    [projectId, [...segmentIds], days],
  );
  return Map.groupBy(rows, ({ segmentId }) => segmentId);
}

/** Deletes sizes older than `SIZES_KEPT_DAYS`. @returns the number deleted. */
export async function deleteOldSizes(): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM segment_sizes WHERE day <= (now() AT TIME ZONE 'UTC')::date - $1::int`,
    [SIZES_KEPT_DAYS],
  );
  return rowCount ?? 0;
}
