import {
  db,
  DomainError,
  inTransaction,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readRows,
  type RowsQuery,
  signalWorkflow,
  sql,
} from '@postroom/platform';
import { getEndpoint } from './endpoints.ts';
import { type EventRow, renderBody } from './payload.ts';

type Delivery = Prisma.DeliveryModel;
export type DeliveryState = Delivery['state'];

export interface DeliveryFilter {
  endpointId?: string | null | undefined;
  state?: DeliveryState | null | undefined;
  eventId?: string | null | undefined;
  /** Such as `contact.created`. */
  eventType?: string | null | undefined;
}

/** The project's deliveries, newest first. An endpoint that is not the project's has none: `not_found`. */
export async function listDeliveries(
  projectId: string,
  { endpointId, state, eventId, eventType }: DeliveryFilter,
  args: PageArgs,
  query: RowsQuery = {},
): Promise<Page<Delivery>> {
  if (endpointId != null) await getEndpoint(projectId, endpointId, { select: { id: true } });
  const where = {
    projectId,
    ...(endpointId == null ? {} : { endpointId }),
    ...(state == null ? {} : { state }),
    ...(eventId == null ? {} : { eventId }),
    ...(eventType == null ? {} : { event: { type: eventType } }),
  };
  return readRows(db.delivery, 'dlv', args, where, query);
}

/** A delivery of the project, or `not_found`. */
export async function getDelivery(projectId: string, id: string, query: RowsQuery = {}): Promise<Delivery> {
  const delivery = isId('dlv', id) ? await db.delivery.findFirst({ ...query, where: { id, projectId } }) : null;
  if (delivery === null) throw notFound('delivery');
  return delivery;
}

/** The body that deliveries of each event post, the same bytes each time. */
export async function bodiesOf(eventIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await pool.query<EventRow>(
    `SELECT id AS event_id, type AS event_type, created_at AS event_created_at, project_id, data::text AS data
     FROM events WHERE id = ANY ($1)`,
    [eventIds],
  );
  return new Map(rows.map((row) => [row.event_id, renderBody(row)]));
}

/**
 * Delivers an event once more, as a delivery of its own with six attempts; returns its id. The body is the same to the byte.
 * @throws DomainError `not_found`; `conflict` while the first is still under way or its endpoint is disabled.
 */
export async function replayDelivery(projectId: string, id: string): Promise<string> {
  const { state, endpointId, eventId } = await getDelivery(projectId, id);
  if (state === 'queued' || state === 'retried') {
    throw new DomainError(
      'conflict',
      'The delivery is still under way: it can be replayed once it is acknowledged or failed.',
    );
  }
  await enabledEndpoint(projectId, endpointId);
  const replay = newId('dlv');
  await insertAndWake(
    `INSERT INTO deliveries (id, project_id, endpoint_id, event_id, replay_of) VALUES ($1, $2, $3, $4, $5) RETURNING id`,
    [replay, projectId, endpointId, eventId, id],
  );
  return replay;
}

/**
 * Makes the next attempt of a delivery now instead of when it is due. A delivery in a workflow is told so by a signal; one
 * that waits in the table becomes due.
 * @throws DomainError `not_found`; `conflict` unless it waits for another attempt at an enabled endpoint.
 */
export async function retryDelivery(projectId: string, id: string): Promise<void> {
  const { endpointId, state } = await getDelivery(projectId, id);
  if (state === 'acknowledged' || state === 'failed') {
    throw new DomainError(
      'conflict',
      `This delivery is ${state}, so no attempt is due. Replay it to deliver it again.`,
    );
  }
  await enabledEndpoint(projectId, endpointId);
  await inTransaction(async (tx) => {
    const [waiting] = await sql<{ workflow_id: string | null }>(
      tx,
      `UPDATE deliveries SET next_attempt_at = CASE WHEN dispatched_at IS NULL THEN now() ELSE next_attempt_at END
       WHERE id = $1 AND state = 'retried' RETURNING CASE WHEN dispatched_at IS NOT NULL THEN workflow_id END AS workflow_id`,
      [id],
    );
    if (waiting === undefined) throw new DomainError('conflict', 'The first attempt of this delivery is under way.');
    if (waiting.workflow_id !== null) await signalWorkflow(tx, { workflowId: waiting.workflow_id, signal: 'retryNow' });
    await tx.query(`SELECT pg_notify('postroom', 'deliveries')`);
  });
}

/**
 * Delivers once more what failed at an endpoint since a time, oldest first, and returns how many. What has been replayed
 * already is left out, so to ask twice does no harm.
 * @throws DomainError `not_found`, or `conflict` when the endpoint is disabled.
 */
export async function replayFailed(projectId: string, endpointId: string, since: Date): Promise<number> {
  await enabledEndpoint(projectId, endpointId);
  return insertAndWake(
    `INSERT INTO deliveries (id, project_id, endpoint_id, event_id, replay_of)
     SELECT postroom_id('dlv'), failed.project_id, failed.endpoint_id, failed.event_id, failed.id
     FROM (
       SELECT * FROM deliveries d
       WHERE d.endpoint_id = $1 AND d.state = 'failed' AND d.closed_at >= $2
         AND NOT EXISTS (SELECT 1 FROM deliveries r WHERE r.replay_of = d.id)
       ORDER BY d.id
     ) AS failed
     RETURNING id`,
    [endpointId, since],
  );
}

/**
 * Queues a `webhook.test` event for one endpoint, whatever types it wants, and returns the ids of event and delivery
 * (spec: Event types).
 * @throws DomainError `not_found`, or `conflict` when the endpoint is disabled.
 */
export async function sendTestEvent(
  projectId: string,
  endpointId: string,
): Promise<{ eventId: string; deliveryId: string }> {
  await enabledEndpoint(projectId, endpointId);
  const data = { endpoint_id: endpointId, message: 'This is a test of your webhook endpoint.' };
  return inTransaction(async (tx) => {
    const eventId = newId('evt');
    await tx.query(`INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'webhook.test', $3)`, [
      eventId,
      projectId,
      JSON.stringify(data),
    ]);
    const { rows } = await tx.query<{ id: string }>('SELECT id FROM deliveries WHERE event_id = $1', [eventId]);
    if (rows[0] === undefined) throw new DomainError('conflict', 'The endpoint has just been disabled.');
    return { eventId, deliveryId: rows[0].id };
  });
}

async function enabledEndpoint(projectId: string, id: string): Promise<void> {
  const { enabled } = await getEndpoint(projectId, id);
  if (!enabled) throw new DomainError('conflict', 'The endpoint is disabled: enable it in the dashboard first.');
}

/** Runs an INSERT … RETURNING and tells the relay; both or neither. */
async function insertAndWake(insert: string, values: unknown[]): Promise<number> {
  const [row] = await sql<{ count: number }>(
    db,
    `WITH added AS (${insert}), woken AS (SELECT pg_notify('postroom', 'deliveries') FROM added LIMIT 1)
     SELECT count(*)::int AS count FROM added LEFT JOIN woken ON true`,
    values,
  );
  return row?.count ?? 0;
}
