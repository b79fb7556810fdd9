import { databaseTime, db, pool, type Prisma, subscribe, subscription } from '@postroom/platform';
import { getEndpoint } from './endpoints.ts';
import { POLICY } from './policy.ts';

type Delivery = Prisma.DeliveryModel;

/** Prefix of notifications about attempts. The project id and the delivery ids follow. */
export const ATTEMPTED = 'attempted';

/**
 * Yields each delivery of the project, or of one endpoint, whenever it is attempted, until the subscriber leaves. A
 * subscriber slower than a burst gets the latest ones. With `since`, deliveries attempted from then on come first,
 * earliest first: a reconnecting subscriber misses none, but may see one again. The same holds for a subscription whose
 * gateway loses its database connection.
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
  let readUntil = since;
  for await (const { payloads, mayHaveMissed } of subscribe(`${ATTEMPTED} ${projectId}`, signal, {
    minIntervalMs: POLICY.stream.minIntervalMs,
  })) {
    const from = readUntil;
    readUntil = databaseTime();
    if (mayHaveMissed && from !== undefined) yield* attemptedSince(projectId, endpointId, from);
    else yield* await readNamedDeliveries(projectId, endpointId, payloads);
  }
}

/** The deliveries named by notifications, in their current state; the latest ones of a burst. */
function readNamedDeliveries(projectId: string, endpointId: string | undefined, payloads: readonly string[]) {
  const ids = payloads.flatMap((payload) => payload.split(' ').slice(2));
  if (ids.length === 0) return [];
  const where = { id: { in: ids }, projectId, ...(endpointId === undefined ? {} : { endpointId }) };
  return db.delivery.findMany({ where, orderBy: { id: 'asc' }, take: -POLICY.stream.deliveriesPerRead });
}

/** Deliveries attempted since an instant, in their current state, ordered by their first attempt since then. */
async function* attemptedSince(
  projectId: string,
  endpointId: string | undefined,
  since: Date,
): AsyncGenerator<Delivery, void> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT d.id FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
     WHERE a.started_at >= $1 AND d.project_id = $2 AND ($3::text IS NULL OR d.endpoint_id = $3)
     GROUP BY d.id ORDER BY min(a.started_at), d.id`,
    [new Date(since.getTime() - POLICY.stream.maxWriteDelayMs), projectId, endpointId ?? null],
  );
  for (let at = 0; at < rows.length; at += POLICY.stream.missedPageSize) {
    const ids = rows.slice(at, at + POLICY.stream.missedPageSize).map(({ id }) => id);
    const found = new Map((await db.delivery.findMany({ where: { id: { in: ids } } })).map((row) => [row.id, row]));
    yield* ids.flatMap((id) => found.get(id) ?? []);
  }
}
