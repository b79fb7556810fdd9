import { pool, sleep, subscribe, subscription } from '@postroom/platform';
import { getEndpoint } from './endpoints.ts';
import { resolveCursor, runStreamRead, STREAM_PAGE_SIZE } from '@postroom/events';
import { ATTEMPTED } from './subscription.ts';
import {
  decodeCursor,
  type DecodedCursor,
  type SnapshotCursor,
  cursorAfterEach,
  cursorFrom,
  encodeCursor,
  NOTHING_SEEN,
} from '@postroom/snapshot-cursor';
import { POLICY } from './policy.ts';

/** A recorded attempt, and the stream's cursor after it. */
export interface RecordedAttempt {
  deliveryId: string;
  /** 1 to 6. */
  number: number;
  cursor: string;
}

/**
 * Yields every attempt recorded after the cursor, or after this call if there is none, for the project or one
 * endpoint, until the reader leaves. Delivery is exactly once: see `streamEvents`.
 * @throws DomainError `validation_error` for a cursor this database did not issue, `not_found` for an endpoint
 * outside the project.
 */
export function streamAttempts(
  projectId: string,
  { endpointId, after }: { endpointId?: string | null | undefined; after?: string | null | undefined } = {},
): AsyncIterableIterator<RecordedAttempt> {
  const seen = after == null ? undefined : decodeCursor(after);
  return subscription((signal) => attemptsAfter(projectId, endpointId ?? undefined, seen, signal));
}

async function* attemptsAfter(
  projectId: string,
  endpointId: string | undefined,
  after: DecodedCursor | undefined,
  signal: AbortSignal,
): AsyncGenerator<RecordedAttempt, void> {
  if (endpointId !== undefined) await getEndpoint(projectId, endpointId, { select: { id: true } });
  const start = await resolveCursor(projectId, after);
  let seen = start.cursor;
  for await (const _ of subscribe(`${ATTEMPTED} ${projectId}`, signal, {
    minIntervalMs: POLICY.stream.minIntervalMs,
    pollMs: POLICY.stream.maxIntervalMs,
  })) {
    for (let isLast = false; !isLast;) {
      const page = await readUnseen(projectId, endpointId, { ...start, cursor: seen });
      for (const attempt of page.attempts) {
        yield attempt;
        if (signal.aborted) return;
      }
      ({ seen, isLast } = page);
      if (!isLast) await sleep(0, signal); // yields to other readers while catching up
      if (signal.aborted) return;
    }
  }
}

interface AttemptRow {
  snapshot: string;
  xact: string;
  id: string | null;
}

/** One transaction never records two attempts of a delivery, so delivery and number together order the rows. */
const UNSEEN = (condition: string) => `
  SELECT a.xact, a.delivery_id || '.' || a.number AS id FROM attempts a
  WHERE a.project_id = $1 AND a.${condition}
    AND ($4::text IS NULL OR EXISTS (SELECT FROM deliveries d WHERE d.id = a.delivery_id AND d.endpoint_id = $4))
  ORDER BY a.xact, id LIMIT ${STREAM_PAGE_SIZE}`;
const READ_UNSEEN = `
  WITH unseen AS (
    SELECT 0 AS rank, * FROM (${UNSEEN(`xact = $5 AND a.delivery_id || '.' || a.number > $6`)}) AS rest UNION ALL
    SELECT 1, * FROM (${UNSEEN('xact = ANY ($2::bigint[]) AND a.xact <> $5')}) AS others UNION ALL
    SELECT 1, * FROM (${UNSEEN('xact >= $3')}) AS later
  )
  SELECT pg_current_snapshot()::text AS snapshot, page.*
  FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM unseen ORDER BY rank, xact, id LIMIT ${STREAM_PAGE_SIZE}) AS page ON true
  ORDER BY page.rank, page.xact, page.id`;

/** Reads one page and advances the cursor. One statement, so that rows and snapshot are consistent. */
async function readUnseen(
  projectId: string,
  endpointId: string | undefined,
  { cursor: seen, moves }: DecodedCursor,
): Promise<{ attempts: RecordedAttempt[]; seen: SnapshotCursor; isLast: boolean }> {
  const { running, before, partly = NOTHING_SEEN } = seen;
  const { rows } = await runStreamRead(projectId, () =>
    pool.query<AttemptRow>({
      name: 'unseen-attempts',
      text: READ_UNSEEN,
      values: [projectId, running, before, endpointId ?? null, partly.xact, partly.id],
    }),
  );
  const now = cursorFrom(rows[0]?.snapshot ?? '');
  const found = rows.flatMap(({ xact, id }) => (id === null ? [] : [{ xact: BigInt(xact), id }]));
  const isLast = rows.length < STREAM_PAGE_SIZE;
  const after = cursorAfterEach(seen, now, found, { isLast });
  const attempts = found.map(({ id }, index) => {
    const [deliveryId = '', number] = id.split('.');
    return { deliveryId, number: Number(number), cursor: encodeCursor(after[index] ?? seen, moves) };
  });
  return { attempts, seen: isLast ? now : (after.at(-1) ?? seen), isLast };
}
