import { listen, subscription, sleep, pool } from '@postroom/platform';
import { getEndpoint } from './endpoints.ts';
import { beginAfter, runStreamRead } from './event-stream.ts';
import { ATTEMPTED } from './subscription.ts';
import { decodeCursor, type SnapshotCursor, cursorAfterEach, cursorFrom, encodeCursor } from './snapshot-cursor.ts';

/** An attempt that was recorded, and where the stream stands after it. */
export interface RecordedAttempt {
  deliveryId: string;
  /** 1 to 6. */
  number: number;
  cursor: string;
}

/** So many attempts are in memory for one reader at most, however far behind it is. */
const PAGE_SIZE = 100;

/** A reader who has seen all looks again after news, at most so often, and after a while without any. */
const LOOK_EVERY_MS = 250;
const LOOK_AFTER_MS = 5_000;

/**
 * Every attempt of the project's deliveries, all or those to one endpoint, that is recorded after the cursor, for as long as
 * somebody reads; without one, after this call. None is left out and none comes twice: see `streamEvents`.
 * @throws DomainError `validation_error` for a cursor that this database did not give out, `not_found` for an endpoint that
 * is not the project's.
 */
export function streamAttempts(
  projectId: string,
  { endpointId, after }: { endpointId?: string | null | undefined; after?: string | null | undefined } = {},
): AsyncIterableIterator<RecordedAttempt> {
  const seen = after == null ? undefined : decodeCursor(after);
  return subscription((left) => attemptsAfter(projectId, endpointId ?? undefined, seen, left));
}

async function* attemptsAfter(
  projectId: string,
  endpointId: string | undefined,
  after: SnapshotCursor | undefined,
  left: AbortSignal,
): AsyncGenerator<RecordedAttempt, void> {
  if (endpointId !== undefined) await getEndpoint(projectId, endpointId, { select: { id: true } });
  let seen = await beginAfter(after);
  let news = new AbortController();
  const stopListening = await listen(`${ATTEMPTED} ${projectId}`, () => news.abort());
  try {
    while (!left.aborted) {
      news = new AbortController();
      const page = await readUnseen(projectId, endpointId, seen);
      for (const attempt of page.attempts) {
        yield attempt;
        if (left.aborted) return;
      }
      seen = page.seen;
      await sleep(page.isLast ? LOOK_EVERY_MS : 0, left); // a reader who catches up does not hold up the others
      if (page.isLast) await sleep(LOOK_AFTER_MS, AbortSignal.any([news.signal, left]));
    }
  } finally {
    await stopListening();
  }
}

interface AttemptRow {
  snapshot: string;
  xact: string;
  id: string | null;
}

/** Two attempts of a delivery are never recorded in one transaction; beside its number the delivery is what orders them. */
const UNSEEN = (condition: string) => `
  SELECT a.xact, a.delivery_id || '.' || a.number AS id FROM attempts a
  WHERE a.project_id = $1 AND a.${condition}
    AND ($4::text IS NULL OR EXISTS (SELECT FROM deliveries d WHERE d.id = a.delivery_id AND d.endpoint_id = $4))
  ORDER BY a.xact, id LIMIT ${PAGE_SIZE}`;
const READ_UNSEEN = `
  WITH unseen AS (
    SELECT 0 AS rank, * FROM (${UNSEEN(`xact = $5 AND a.delivery_id || '.' || a.number > $6`)}) AS rest UNION ALL
    SELECT 1, * FROM (${UNSEEN('xact = ANY ($2::bigint[]) AND a.xact <> $5')}) AS others UNION ALL
    SELECT 1, * FROM (${UNSEEN('xact >= $3')}) AS later
  )
  SELECT pg_current_snapshot()::text AS snapshot, page.*
  FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM unseen ORDER BY rank, xact, id LIMIT ${PAGE_SIZE}) AS page ON true
  ORDER BY page.rank, page.xact, page.id`;

/** One page of what was not seen, and what has been seen after it; one statement, so rows and snapshot belong together. */
async function readUnseen(
  projectId: string,
  endpointId: string | undefined,
  seen: SnapshotCursor,
): Promise<{ attempts: RecordedAttempt[]; seen: SnapshotCursor; isLast: boolean }> {
  const { rows } = await runStreamRead(projectId, () =>
    pool.query<AttemptRow>({
      name: 'unseen-attempts',
      text: READ_UNSEEN,
      values: [
        projectId,
        seen.running,
        seen.before,
        endpointId ?? null,
        seen.partly?.xact ?? -1,
        seen.partly?.id ?? '',
      ],
    }),
  );
  const now = cursorFrom(rows[0]?.snapshot ?? '');
  const found = rows.flatMap(({ xact, id }) => (id === null ? [] : [{ xact: BigInt(xact), id }]));
  const isLast = rows.length < PAGE_SIZE;
  const after = cursorAfterEach(seen, now, found, { isLast });
  const attempts = found.map(({ id }, index) => {
    const [deliveryId = '', number] = id.split('.');
    return { deliveryId, number: Number(number), cursor: encodeCursor(after[index] ?? seen) };
  });
  return { attempts, seen: isLast ? now : (after.at(-1) ?? seen), isLast };
}
