import { invalid, pool, runCostly } from '@postroom/platform';
import { cachedAggregate } from './cached-aggregate.ts';

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

/** The event type behind each other count. */
const COUNTED: Record<Exclude<keyof Statistics, 'at' | keyof typeof HITS>, string> = {
  sent: 'email.sent',
  delivered: 'email.delivered',
  bounced: 'email.bounced',
  complained: 'email.complained',
  failed: 'email.failed',
  unsubscribed: 'contact.unsubscribed',
  added: 'contact.created',
};

const MAX_POINTS = 400;
const STEP_MS: Record<Step, number> = { hour: 3_600_000, day: 86_400_000 };
/** Maximum difference between the time in an event's id and its `created_at`, in milliseconds. */
const SLACK_MS = 60_000;

const cached = cachedAggregate<Statistics[]>();

/**
 * Counts events of a period, with one point per hour or day of a time zone and no gaps. The query reads all events of the
 * period, so results over many events are cached for up to five minutes.
 * @throws DomainError `validation_error` for an unknown time zone, more than 400 points, or an end before the start.
 */
export async function statistics(
  projectId: string,
  { since, until, step, timeZone }: { since: Date; until?: Date | undefined; step: Step; timeZone: string },
): Promise<Statistics[]> {
  if (!isTimeZone(timeZone)) throw invalid({ field: 'timeZone', message: 'is not a time zone' });
  if (until !== undefined && until <= since) throw invalid({ field: 'until', message: 'must be after since' });
  const end = Math.min(until?.getTime() ?? Infinity, Date.now());
  if ((end - since.getTime()) / STEP_MS[step] > MAX_POINTS) {
    const whence = until === undefined ? 'ago' : 'before until';
    throw invalid({ field: 'since', message: `is more than ${MAX_POINTS} ${step}s ${whence}` });
  }
  const from = idAt(since.getTime() - SLACK_MS);
  const to = until === undefined ? LAST_ID : idAt(until.getTime() + SLACK_MS);
  return cached(`${projectId} ${since.getTime()} ${until?.getTime()} ${step} ${timeZone}`, async () => {
    const { rows } = await runCostly(projectId, () =>
      pool.query<Statistics>(SERIES, [
        projectId,
        since,
        step,
        timeZone,
        from,
        Object.values(COUNTED),
        until ?? null,
        to,
      ]),
    );
    return { result: rows, rows: rows.reduce((sum, point) => sum + eventsOf(point), 0) };
  });
}

/** The number of rows that a point was counted from. */
const eventsOf = ({ at: _at, ...counts }: Statistics) => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Event ids start with their time, so a period is a range of the primary key. */
const SERIES = `
  WITH counted AS (
    SELECT date_trunc($3, created_at, $4) AS at, type, count(*)::int AS number FROM events
    WHERE project_id = $1 AND id >= $5 AND id < $8 AND created_at >= $2 AND created_at < coalesce($7::timestamptz, 'infinity') AND type = ANY ($6) GROUP BY 1, 2
    UNION ALL
    SELECT date_trunc($3, at, $4), kind::text || ' ' || verdict::text, count(*)::int FROM tracking_hits
    WHERE project_id = $1 AND at >= $2 AND at < coalesce($7::timestamptz, 'infinity') AND is_first GROUP BY 1, 2
  ),
  points AS (
    SELECT at FROM generate_series(date_trunc($3, $2::timestamptz, $4), least(now(), $7::timestamptz),
      ('1 ' || $3)::interval, $4) AS at WHERE at < coalesce($7::timestamptz, 'infinity')
  )
  SELECT p.at, ${[...Object.entries(COUNTED), ...Object.entries(HITS).map(([name, hit]) => [name, hit.join(' ')])]
    .map(([name, type]) => `coalesce(sum(c.number) FILTER (WHERE c.type = '${type}'), 0)::int AS "${name}"`)
    .join(', ')}
  FROM points p LEFT JOIN counted c ON c.at = p.at GROUP BY p.at ORDER BY p.at`;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Sorts after every event id. */
const LAST_ID = 'evt_z';

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** The lowest event id of a time, given in milliseconds since the epoch. */
function idAt(ms: number): string {
  const digits = Math.max(Math.trunc(ms), 0).toString(32).padStart(10, '0');
  return `evt_${[...digits].map((digit) => BASE32[Number.parseInt(digit, 32)]).join('')}`;
}
