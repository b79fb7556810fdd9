import { db, listen, subscription, sleep, pool, type Prisma } from '@postroom/platform';
import { getEndpoint } from './endpoints.ts';

type Delivery = Prisma.DeliveryModel;

/** What a notification about attempts begins with; the id of their project and those of their deliveries follow. */
export const ATTEMPTED = 'attempted';

/** A live view looks so often, and in a burst it shows so many of what was attempted in between, the latest. */
const LOOK_EVERY_MS = 250;
const AT_ONCE = 50;

/**
 * The project's deliveries, each time one has been attempted, all or those to one endpoint, for as long as somebody watches.
 * A watcher who is slower than a burst sees the latest of it. With `since`, those attempted from then on come first, the
 * earliest first: who reconnects misses none, and may see one again as it is now.
 * @throws DomainError `not_found` for an endpoint that is not the project's.
 */
export function watchDeliveries(
  projectId: string,
  { endpointId, since }: { endpointId?: string | null | undefined; since?: Date | null | undefined } = {},
): AsyncIterableIterator<Delivery> {
  return subscription((left) => attempted(projectId, endpointId ?? undefined, since ?? undefined, left));
}

async function* attempted(
  projectId: string,
  endpointId: string | undefined,
  since: Date | undefined,
  left: AbortSignal,
): AsyncGenerator<Delivery, void> {
  if (endpointId !== undefined) await getEndpoint(projectId, endpointId, { select: { id: true } });
  let ids: string[] = [];
  const stopListening = await listen(`${ATTEMPTED} ${projectId}`, (payload) => {
    const [, , ...told] = payload.split(' ');
    ids = [...ids, ...told].slice(-500);
  });
  try {
    if (since !== undefined) yield* missed(projectId, endpointId, since);
    while (!left.aborted) {
      const where = { id: { in: ids }, projectId, ...(endpointId === undefined ? {} : { endpointId }) };
      const some = ids.length > 0;
      ids = [];
      if (some) yield* await db.delivery.findMany({ where, orderBy: { id: 'asc' }, take: -AT_ONCE });
      await sleep(LOOK_EVERY_MS, left);
    }
  } finally {
    await stopListening();
  }
}

/** An attempt is written when it has ended, which is at most so long after its start. */
const WRITTEN_WITHIN_MS = 30_000;

/** Deliveries that a page of what was missed holds. */
const PAGE = 200;

/** The deliveries attempted since an instant, each as it is now, in the order of their first attempt since then. */
async function* missed(projectId: string, endpointId: string | undefined, since: Date): AsyncGenerator<Delivery, void> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT d.id FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
     WHERE a.started_at >= $1 AND d.project_id = $2 AND ($3::text IS NULL OR d.endpoint_id = $3)
     GROUP BY d.id ORDER BY min(a.started_at), d.id`,
    [new Date(since.getTime() - WRITTEN_WITHIN_MS), projectId, endpointId ?? null],
  );
  for (let at = 0; at < rows.length; at += PAGE) {
    const ids = rows.slice(at, at + PAGE).map(({ id }) => id);
    const found = new Map((await db.delivery.findMany({ where: { id: { in: ids } } })).map((row) => [row.id, row]));
    yield* ids.flatMap((id) => found.get(id) ?? []);
  }
}
