import { FairSemaphore, invalid, subscription, sleep, pool } from '@postroom/platform';
import { EVENT_TYPE_NAMES } from './event-types.ts';
import { pollEvents } from './event-poller.ts';
import { decodeCursor, type SnapshotCursor, cursorAfterEach, cursorFrom, encodeCursor } from './snapshot-cursor.ts';

/** An event of the project, and where the stream stands after it. */
export interface RecordedEvent {
  id: string;
  type: string;
  createdAt: Date;
  data: unknown;
  cursor: string;
}

/** So many events are in memory for one reader at most, however far behind it is. */
const PAGE_SIZE = 100;

/**
 * Every event of the project that is committed after the cursor, for as long as somebody reads; without one, after this
 * call. None is left out and none comes twice, whatever commits at once and however often a reader reconnects, here or at
 * another gateway. Events of one transaction come in the order of their recording, and nothing is read before it is asked for.
 * @throws DomainError `validation_error` for a cursor that this database did not give out, or a type that there is not.
 */
export function streamEvents(
  projectId: string,
  { after, types }: { after?: string | null | undefined; types?: readonly string[] | null | undefined },
): AsyncIterableIterator<RecordedEvent> {
  const seen = after == null ? undefined : decodeCursor(after);
  const unknown = (types ?? []).find((type) => !(EVENT_TYPE_NAMES as readonly string[]).includes(type));
  if (unknown !== undefined) throw invalid({ field: 'types', message: `has ${unknown}, which is not an event type` });
  if (types?.length === 0) throw invalid({ field: 'types', message: 'must not be empty; leave it out for all' });
  return subscription((left) => eventsAfter(projectId, seen, types ?? undefined, left));
}

/** Where the stream of events stands: given as `after`, what is committed from now on follows. */
export async function currentCursor(): Promise<string> {
  return encodeCursor(await currentSnapshot());
}

async function currentSnapshot(): Promise<SnapshotCursor> {
  const { rows } = await pool.query<{ snapshot: string }>('SELECT pg_current_snapshot()::text AS snapshot');
  return cursorFrom(rows[0]?.snapshot ?? '');
}

/**
 * Where a reader begins: behind its cursor, or now.
 * @throws DomainError `validation_error` for a cursor of another database.
 */
export async function beginAfter(after: SnapshotCursor | undefined): Promise<SnapshotCursor> {
  const now = await currentSnapshot();
  if (after !== undefined && after.before > now.before)
    throw invalid({ field: 'after', message: 'is ahead of this database: it is a cursor of another one' });
  return after ?? now;
}

async function* eventsAfter(
  projectId: string,
  after: SnapshotCursor | undefined,
  types: readonly string[] | undefined,
  left: AbortSignal,
): AsyncGenerator<RecordedEvent, void> {
  let seen = await beginAfter(after);
  const watch = pollEvents(projectId);
  try {
    while (!left.aborted) {
      watch.clear();
      const page = await readUnseen(projectId, seen, types);
      for (const event of page.events) {
        yield event;
        if (left.aborted) return;
      }
      seen = page.seen;
      if (page.isLast) await watch.news(left);
      else await sleep(0, left); // a reader who catches up does not hold up the others
    }
  } finally {
    watch.stop();
  }
}

interface EventRow {
  snapshot: string;
  xact: string;
  id: string | null;
  type: string;
  created_at: Date;
  data: unknown;
}

/** The unseen are ranges of the index: the rest of one transaction, a few others by number, and all from a number on. */
const UNSEEN = (condition: string) => `
  SELECT xact, id, type, created_at, data FROM events
  WHERE project_id = $1 AND ${condition} AND ($4::text[] IS NULL OR type = ANY ($4))
  ORDER BY xact, id LIMIT ${PAGE_SIZE}`;
const READ_UNSEEN = `
  WITH unseen AS (
    SELECT 0 AS rank, * FROM (${UNSEEN('xact = $5 AND id > $6')}) AS rest UNION ALL
    SELECT 1, * FROM (${UNSEEN('xact = ANY ($2::bigint[]) AND xact <> $5')}) AS others UNION ALL
    SELECT 1, * FROM (${UNSEEN('xact >= $3')}) AS later
  )
  SELECT pg_current_snapshot()::text AS snapshot, page.*
  FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM unseen ORDER BY rank, xact, id LIMIT ${PAGE_SIZE}) AS page ON true
  ORDER BY page.rank, page.xact, page.id`;

/** Readers wake together: those of a project read a few at a time, so that those of others find connections. */
const reads = new FairSemaphore({ total: 6, perKey: 2 });
export const runStreamRead = <T>(projectId: string, read: () => Promise<T>): Promise<T> => reads.run(projectId, read);

/** One page of what was not seen, and what has been seen after it; one statement, so rows and snapshot belong together. */
async function readUnseen(
  projectId: string,
  seen: SnapshotCursor,
  types: readonly string[] | undefined,
): Promise<{ events: RecordedEvent[]; seen: SnapshotCursor; isLast: boolean }> {
  const { rows } = await runStreamRead(projectId, () =>
    pool.query<EventRow>({
      name: 'unseen-events',
      text: READ_UNSEEN,
      values: [projectId, seen.running, seen.before, types ?? null, seen.partly?.xact ?? -1, seen.partly?.id ?? ''],
    }),
  );
  const now = cursorFrom(rows[0]?.snapshot ?? '');
  const isLast = rows.length < PAGE_SIZE;
  const found = rows.flatMap(({ id, xact, ...row }) => (id === null ? [] : [{ ...row, id, xact: BigInt(xact) }]));
  const after = cursorAfterEach(seen, now, found, { isLast });
  const events = found.map(({ id, type, created_at: createdAt, data }, index) => {
    return { id, type, createdAt, data, cursor: encodeCursor(after[index] ?? seen) };
  });
  return { events, seen: isLast ? now : (after.at(-1) ?? seen), isLast };
}
