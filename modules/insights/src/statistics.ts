import {
  cachedAggregate,
  databaseNow,
  idsCreatedFrom,
  idsCreatedUntil,
  invalid,
  isTimeZone,
  localInstant,
  pool,
  runCostly,
  zoneOffset,
} from '@postroom/platform';
import { COUNTED_EVENTS, QUARTER_MS } from './statistics-counts.ts';

/** The length of each point of a series. */
export type Step = 'hour' | 'day';

/** Counts for one hour or day. */
export interface Statistics {
  /** Start of the hour or day. */
  at: Date;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  openedByMachines: number;
  clickedByMachines: number;
  bounced: number;
  complained: number;
  /** Messages that the provider refused after it had accepted them. */
  rejected: number;
  failed: number;
  unsubscribed: number;
  /** Contacts that were added. */
  added: number;
}

/** Counts taken from first hits instead of events: bots emit no events, and a message emits one event per link. */
const HITS = {
  opened: ['open', 'person'],
  clicked: ['click', 'person'],
  openedByMachines: ['open', 'machine'],
  clickedByMachines: ['click', 'machine'],
} as const;

/** Points of a series, so that one by days reaches back this many days, as far as counts are kept. */
export const MAX_POINTS = 400;
const STEP_MS: Record<Step, number> = { hour: 3_600_000, day: 86_400_000 };

const cached = cachedAggregate<Statistics[]>();

/**
 * Counts events of a period, with one point per hour or day of a time zone and no gaps. The query adds up the counts of whole quarters
 * of an hour (statistics-counts.ts), and reads the events that are not counted yet and those at the ends of the period. If these are
 * many, the result is cached for up to five minutes.
 * @throws DomainError `validation_error` for an unknown time zone, more than 400 points, or an end before the start.
 */
export async function statistics(
  projectId: string,
  { since, until, step, timeZone }: { since: Date; until?: Date | undefined; step: Step; timeZone: string },
): Promise<Statistics[]> {
  if (!isTimeZone(timeZone)) throw invalid({ field: 'timeZone', message: 'must be a time zone such as Europe/Berlin' });
  if (until !== undefined && until <= since) throw invalid({ field: 'until', message: 'must be after since' });
  const end = Math.min(until?.getTime() ?? Infinity, databaseNow());
  if ((end - since.getTime()) / STEP_MS[step] > MAX_POINTS) {
    const whence = until === undefined ? 'ago' : 'before until';
    throw invalid({ field: 'since', message: `must be at most ${MAX_POINTS} ${step}s ${whence}` });
  }
  return cached(`${projectId} ${since.getTime()} ${until?.getTime()} ${step} ${timeZone}`, async () => {
    const { whole, edges } = quartersOf(since, until);
    const { rows: progress } = await pool.query<{ xact: string }>(PROGRESS, [projectId]);
    const values = [
      projectId,
      since,
      until ?? 'infinity',
      startsOf({ since: since.getTime(), end, step, timeZone }).map((start) => new Date(start)),
      Object.values(COUNTED_EVENTS),
      whole.since,
      whole.until ?? 'infinity',
      edges.map((edge) => edge.since),
      edges.map((edge) => edge.until),
      edges.map((edge) => idsCreatedFrom('evt', edge.since)),
      edges.map((edge) => idsCreatedUntil('evt', edge.until)),
      progress[0]?.xact ?? NOTHING_COUNTED,
    ];
    const { rows } = await runCostly(projectId, () => pool.query<Statistics & { readCount: number }>(SERIES, values));
    return { result: rows.map(({ readCount: _, ...point }) => point), rows: rows[0]?.readCount ?? 0 };
  });
}

/** The starts of the hours or days in a time zone that overlap a period, as Unix times in milliseconds. */
function startsOf({
  since,
  end,
  step,
  timeZone,
}: {
  since: number;
  end: number;
  step: Step;
  timeZone: string;
}): number[] {
  const local = since + zoneOffset(timeZone, since);
  const hour = since - local + Math.floor(local / STEP_MS.hour) * STEP_MS.hour;
  const day = Math.floor(local / STEP_MS.day) * STEP_MS.day;
  const at = (index: number) =>
    step === 'hour'
      ? hour + index * STEP_MS.hour
      : localInstant(new Date(day + index * STEP_MS.day).toISOString().slice(0, 10), '00:00', timeZone);
  // The period may begin between the two midnights of a day on which clocks go back.
  const starts = [Math.min(at(0), since)];
  for (let start = at(1); start < end; start = at(starts.length)) starts.push(start);
  return starts;
}

interface Period {
  since: Date;
  until: Date;
}

/** The whole quarters of an hour within a period, and the parts of it before and after them. */
function quartersOf(since: Date, until: Date | undefined) {
  const first = Math.ceil(since.getTime() / QUARTER_MS) * QUARTER_MS;
  const last = until === undefined ? Infinity : Math.floor(until.getTime() / QUARTER_MS) * QUARTER_MS;
  const edges: Period[] = [];
  if (since.getTime() < first) edges.push({ since, until: new Date(Math.min(first, until?.getTime() ?? Infinity)) });
  if (until !== undefined && Math.max(last, first) < until.getTime())
    edges.push({ since: new Date(Math.max(last, first)), until });
  return { whole: { since: new Date(first), until: until === undefined ? undefined : new Date(last) }, edges };
}

/** Before the first event: transaction ids of a project that was moved here are negative. */
const NOTHING_COUNTED = String(-(2n ** 63n));

/** Read first, as a parameter: for an unknown value the planner expects a third of all events, and reads those of all projects. */
const PROGRESS = 'SELECT xact FROM statistics_progress WHERE project_id = $1';

/**
 * One statement, so that its counts and the events that are not counted yet are of the same moment. The latter are found by the index on
 * `(project_id, xact, id)`, those at the ends by `(project_id, id)`, as event ids start with their time.
 */
const SERIES = `
  WITH progress AS (
    SELECT coalesce((SELECT xact FROM statistics_progress WHERE project_id = $1), '${NOTHING_COUNTED}'::bigint) AS xact
  ), edges AS (
    SELECT * FROM unnest($8::timestamptz[], $9::timestamptz[], $10::text[], $11::text[]) AS edge (since, until, first_id, last_id)
  ), read AS (
    SELECT width_bucket(created_at, $4::timestamptz[]) AS point, type AS kind, count(*) AS number FROM events
    WHERE project_id = $1 AND xact >= $12 AND xact >= (SELECT xact FROM progress) AND created_at >= $2 AND created_at < $3 AND type = ANY ($5)
    GROUP BY 1, 2
    UNION ALL
    SELECT width_bucket(e.created_at, $4::timestamptz[]), e.type, count(*) FROM edges CROSS JOIN LATERAL (
      SELECT created_at, type FROM events WHERE project_id = $1 AND id >= edges.first_id AND id < edges.last_id
        AND created_at >= edges.since AND created_at < edges.until AND xact < (SELECT xact FROM progress) AND type = ANY ($5)) AS e
    GROUP BY 1, 2
    UNION ALL
    SELECT width_bucket(h.at, $4::timestamptz[]), h.kind || ' ' || h.verdict, count(*) FROM edges e JOIN tracking_hits h
      ON h.project_id = $1 AND h.is_first AND h.at >= e.since AND h.at < e.until GROUP BY 1, 2
  ), counted AS (
    SELECT point, kind, number FROM read
    UNION ALL
    SELECT width_bucket(at, $4::timestamptz[]), kind, number FROM statistics_counts WHERE project_id = $1 AND at >= $6 AND at < $7
  )
  SELECT p.at, ${[
    ...Object.entries(COUNTED_EVENTS),
    ...Object.entries(HITS).map(([name, hit]) => [name, hit.join(' ')]),
  ]
    .map(([name, kind]) => `coalesce(sum(c.number) FILTER (WHERE c.kind = '${kind}'), 0)::int AS "${name}"`)
    .join(', ')}, (SELECT coalesce(sum(number), 0) FROM read)::int AS "readCount"
  FROM unnest($4::timestamptz[]) WITH ORDINALITY AS p (at, point) LEFT JOIN counted c USING (point) GROUP BY p.at ORDER BY p.at`;
