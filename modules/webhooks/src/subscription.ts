import { db, listen, subscription, sleep, pool, type Prisma } from '@postroom/platform';
import { getEndpoint } from './endpoints.ts';

type Delivery = Prisma.DeliveryModel;

/** Prefix of notifications about attempts. The project id and the delivery ids follow. */
export const ATTEMPTED = 'attempted';

/** A subscription polls at this interval, and in a burst yields only this many of the latest deliveries per poll. */
const POLL_INTERVAL_MS = 250;
const MAX_PER_POLL = 50;

/**
 * Yields each delivery of the project, or of one endpoint, whenever it is attempted, until the subscriber leaves. A
 * subscriber slower than a burst gets the latest ones. With `since`, deliveries attempted from then on come first,
 * earliest first: a reconnecting subscriber misses none, but may see one again.
 * @throws DomainError `not_found` for an endpoint outside the project.
 */
export function watchDeliveries(
  projectId: string,
  { endpointId, since }: { endpointId?: string | null | undefined; since?: Date | null | undefined } = {},
): AsyncIterableIterator<Delivery> {
  return subscription((signal) => attemptedDeliveries(projectId, endpointId ?? undefined, since ?? undefined, signal));
}

async function* attemptedDeliveries(
  projectId: string,
  endpointId: string | undefined,
  since: Date | undefined,
  signal: AbortSignal,
): AsyncGenerator<Delivery, void> {
  if (endpointId !== undefined) await getEndpoint(projectId, endpointId, { select: { id: true } });
  let ids: string[] = [];
  const stopListening = await listen(`${ATTEMPTED} ${projectId}`, (payload) => {
    const [, , ...deliveryIds] = payload.split(' ');
    ids = [...ids, ...deliveryIds].slice(-500);
  });
  try {
    if (since !== undefined) yield* missed(projectId, endpointId, since);
    while (!signal.aborted) {
      const where = { id: { in: ids }, projectId, ...(endpointId === undefined ? {} : { endpointId }) };
      const hasUpdates = ids.length > 0;
      ids = [];
      if (hasUpdates) yield* await db.delivery.findMany({ where, orderBy: { id: 'asc' }, take: -MAX_PER_POLL });
      await sleep(POLL_INTERVAL_MS, signal);
    }
  } finally {
    await stopListening();
  }
}

/** An attempt is written after it ended, at most this long after its start. */
const MAX_WRITE_DELAY_MS = 30_000;

/** Missed deliveries per page. */
const PAGE_SIZE = 200;

/** Deliveries attempted since an instant, in their current state, ordered by their first attempt since then. */
async function* missed(projectId: string, endpointId: string | undefined, since: Date): AsyncGenerator<Delivery, void> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT d.id FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
     WHERE a.started_at >= $1 AND d.project_id = $2 AND ($3::text IS NULL OR d.endpoint_id = $3)
     GROUP BY d.id ORDER BY min(a.started_at), d.id`,
    [new Date(since.getTime() - MAX_WRITE_DELAY_MS), projectId, endpointId ?? null],
  );
  for (let at = 0; at < rows.length; at += PAGE_SIZE) {
    const ids = rows.slice(at, at + PAGE_SIZE).map(({ id }) => id);
    const found = new Map((await db.delivery.findMany({ where: { id: { in: ids } } })).map((row) => [row.id, row]));
    yield* ids.flatMap((id) => found.get(id) ?? []);
  }
}
