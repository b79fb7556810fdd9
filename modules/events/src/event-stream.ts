import {
  databaseNow,
  FairSemaphore,
  invalid,
  isShared,
  paceBulkWork,
  pool,
  sleep,
  subscription,
} from '@postroom/platform';
import { transactionShifts } from '@postroom/projects';
import { eventTypeProblems } from './event-types.ts';
import { lowestUnseenId, pollEvents } from './event-poller.ts';
import {
  decodeCursor,
  type DecodedCursor,
  type SnapshotCursor,
  cursorAfterEach,
  cursorFrom,
  encodeCursor,
  NOTHING_SEEN,
  shiftCursor,
} from '@postroom/snapshot-cursor';
import { STREAM_PAGE_SIZE } from './policy.ts';

/** An event of the project, and the stream's cursor after it. */
export interface RecordedEvent {
  id: string;
  type: string;
  createdAt: Date;
  data: unknown;
  cursor: string;
}

/**
 * Yields every event of the project committed after the cursor, or after this call if there is none, until the reader
 * leaves. Delivery is exactly once: concurrent commits and reconnects, even to another gateway, neither skip nor
 * repeat an event. Events of one transaction keep the order in which they were recorded. A page is read only on
 * demand.
 * @throws DomainError `validation_error` for a cursor this database did not issue, or an unknown type.
 */
export function streamEvents(
  projectId: string,
  { after, types }: { after?: string | null | undefined; types?: readonly string[] | null | undefined },
): AsyncIterableIterator<RecordedEvent> {
  const seen = after == null ? undefined : decodeCursor(after);
  const [unknown] = (types ?? []).flatMap((type) => eventTypeProblems('types', type));
  if (unknown !== undefined) throw invalid(unknown);
  if (types?.length === 0)
    throw invalid({ field: 'types', message: 'must not be empty; omit it to receive all types' });
  return subscription((signal) => eventsAfter(projectId, seen, types ?? undefined, signal));
}

/** The current cursor of a project's streams: passed as `after`, it yields everything committed from now on. */
export async function currentCursor(projectId: string): Promise<string> {
  const { cursor, moves } = await resolveCursor(projectId, undefined);
  return encodeCursor(cursor, moves);
}

/**
 * The cursor a reader starts from: its own, or the current one. One that was issued before the project was moved here is converted.
 * @throws DomainError `validation_error` for a cursor from another database.
 */
export async function resolveCursor(projectId: string, after: DecodedCursor | undefined): Promise<DecodedCursor> {
  const { rows } = await pool.query<{ snapshot: string }>('SELECT pg_current_snapshot()::text AS snapshot');
  const [now, shifts] = [cursorFrom(rows[0]?.snapshot ?? ''), await transactionShifts(projectId)];
  const moves = shifts.length;
  if (after === undefined) return { cursor: now, moves };
  if (after.moves > moves || (after.moves === moves && after.cursor.before > now.before))
    throw invalid({
      field: 'after',
      message: 'was not issued by this database, or before it was restored; omit it to start with new events',
    });
  return { cursor: shifts.slice(after.moves).reduce(shiftCursor, after.cursor), moves };
}

async function* eventsAfter(
  projectId: string,
  after: DecodedCursor | undefined,
  types: readonly string[] | undefined,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent, void> {
  const start = await resolveCursor(projectId, after);
  let seen = start.cursor;
  const poll = pollEvents(projectId);
  try {
    let isLast = true;
    // Nothing is known about the age of events after a client's cursor.
    let fromId = after === undefined ? lowestUnseenId(databaseNow()) : '';
    while (!signal.aborted) {
      if (isLast) await poll.waitForEvents(signal);
      else await sleep(0, signal); // yields to other readers while catching up
      if (signal.aborted) return;
      const readAt = databaseNow();
      const page = await readUnseen(projectId, { ...start, cursor: seen }, types, fromId);
      for (const event of page.events) {
        yield event;
        if (signal.aborted) return;
      }
      ({ seen, isLast } = page);
      if (isLast) fromId = lowestUnseenId(readAt);
    }
  } finally {
    poll.stop();
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

/**
 * Unread events form three index ranges: the rest of a partly read transaction, a few transactions by number, and all
 * later ones.
 */
const UNSEEN = (condition: string) => `
  SELECT xact, id, type, created_at, data FROM events
  WHERE project_id = $1 AND ${condition} AND id >= $7 AND ($4::text[] IS NULL OR type = ANY ($4))
  ORDER BY xact, id LIMIT ${STREAM_PAGE_SIZE}`;
export const READ_UNSEEN_EVENTS = `
  WITH unseen AS (
    SELECT 0 AS rank, * FROM (${UNSEEN('xact = $5 AND id > $6')}) AS rest UNION ALL
    SELECT 1, * FROM (${UNSEEN('xact = ANY ($2::bigint[]) AND xact <> $5')}) AS others UNION ALL
    SELECT 1, * FROM (${UNSEEN('xact >= $3')}) AS later
  )
  SELECT pg_current_snapshot()::text AS snapshot, page.*
  FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM unseen ORDER BY rank, xact, id LIMIT ${STREAM_PAGE_SIZE}) AS page ON true
  ORDER BY page.rank, page.xact, page.id`;

/** All readers wake at once. A per-project limit keeps one project from taking every connection. */
const reads = new FairSemaphore({ total: 6, perKey: 2, perKeyShared: 1, isShared, pace: paceBulkWork });
export const runStreamRead = <T>(projectId: string, read: () => Promise<T>): Promise<T> => reads.run(projectId, read);

/** Reads one page and advances the cursor. One statement, so that rows and snapshot are consistent. */
async function readUnseen(
  projectId: string,
  { cursor: seen, moves }: DecodedCursor,
  types: readonly string[] | undefined,
  fromId: string,
): Promise<{ events: RecordedEvent[]; seen: SnapshotCursor; isLast: boolean }> {
  const { running, before, partly = NOTHING_SEEN } = seen;
  const { rows } = await runStreamRead(projectId, () =>
    pool.query<EventRow>({
      name: 'unseen-events',
      text: READ_UNSEEN_EVENTS,
      values: [projectId, running, before, types ?? null, partly.xact, partly.id, fromId],
    }),
  );
  const now = cursorFrom(rows[0]?.snapshot ?? '');
  const isLast = rows.length < STREAM_PAGE_SIZE;
  const found = rows.flatMap(({ id, xact, ...row }) => (id === null ? [] : [{ ...row, id, xact: BigInt(xact) }]));
  const after = cursorAfterEach(seen, now, found, { isLast });
  const events = found.map(({ id, type, created_at: createdAt, data }, index) => {
    return { id, type, createdAt, data, cursor: encodeCursor(after[index] ?? seen, moves) };
  });
  return { events, seen: isLast ? now : (after.at(-1) ?? seen), isLast };
}
