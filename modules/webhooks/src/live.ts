import { db, listen, liveView, pause, type Prisma } from '@postroom/platform';
import { getEndpoint } from './endpoints.ts';

type Delivery = Prisma.DeliveryModel;

/** What a notification about attempts begins with; the ids of their deliveries follow. */
export const ATTEMPTED = 'attempted';

/** A live view looks so often, and in a burst it shows so many of what was attempted in between, the latest. */
const LOOK_EVERY_MS = 250;
const AT_ONCE = 50;

/**
 * The project's deliveries, each time one has been attempted, all or those to one endpoint, for as long as somebody watches.
 * A watcher who is slower than a burst sees the latest of it.
 * @throws DomainError `not_found` for an endpoint that is not the project's.
 */
export function watchDeliveries(projectId: string, endpointId?: string | null): AsyncIterableIterator<Delivery> {
  return liveView((left) => attempted(projectId, endpointId ?? undefined, left));
}

async function* attempted(
  projectId: string,
  endpointId: string | undefined,
  left: AbortSignal,
): AsyncGenerator<Delivery, void> {
  if (endpointId !== undefined) await getEndpoint(projectId, endpointId, { select: { id: true } });
  let ids: string[] = [];
  const stopListening = await listen((payload) => {
    const [what, ...told] = payload.split(' ');
    if (what === ATTEMPTED) ids = [...ids, ...told].slice(-500);
  });
  try {
    while (!left.aborted) {
      const where = { id: { in: ids }, projectId, ...(endpointId === undefined ? {} : { endpointId }) };
      const some = ids.length > 0;
      ids = [];
      if (some) yield* await db.delivery.findMany({ where, orderBy: { id: 'asc' }, take: -AT_ONCE });
      await pause(LOOK_EVERY_MS, left);
    }
  } finally {
    await stopListening();
  }
}
