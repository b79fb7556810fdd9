import {
  inPages,
  assertValid,
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
  record,
  type RowsQuery,
  signalWorkflow,
  sql,
  type Tx,
} from '@postroom/platform';
import { rowWithId } from '@postroom/partitions/sql';
import { getEndpoint } from './endpoints.ts';
import { eventTypeProblems } from '@postroom/events';
import { type EventRow, renderBody } from './payload.ts';

type Delivery = Prisma.DeliveryModel;
type DeliveryState = Delivery['state'];

export interface DeliveryFilter {
  endpointId?: string | null | undefined;
  state?: DeliveryState | null | undefined;
  eventId?: string | null | undefined;
  /** For example `contact.created`. */
  eventType?: string | null | undefined;
}

/**
 * The project's deliveries, newest first.
 * @throws DomainError `not_found` for an endpoint or an event outside the project; `validation_error` for an unknown event type.
 */
export async function listDeliveries(
  projectId: string,
  { endpointId, state, eventId, eventType }: DeliveryFilter,
  args: PageArgs,
  query: RowsQuery,
): Promise<Page<Delivery>> {
  if (endpointId != null) await getEndpoint(projectId, endpointId, { select: { id: true } });
  if (eventId != null) await checkEvent(projectId, eventId);
  if (eventType != null) assertValid(eventTypeProblems('eventType', eventType));
  const where = {
    projectId,
    ...(endpointId == null ? {} : { endpointId }),
    ...(state == null ? {} : { state }),
    ...(eventId == null ? {} : { eventId }),
    ...(eventType == null ? {} : { event: { type: eventType } }),
  };
  return readRows(db.delivery, 'dlv', args, where, query);
}

/** @throws DomainError `not_found`. */
async function checkEvent(projectId: string, id: string): Promise<void> {
  const event = isId('evt', id) ? await db.event.findFirst({ select: { id: true }, where: { id, projectId } }) : null;
  if (event === null) throw notFound('event');
}

/**
 * Returns a delivery of the project.
 * @throws DomainError `not_found`.
 */
export async function getDelivery(projectId: string, id: string, query: RowsQuery = {}): Promise<Delivery> {
  const delivery = isId('dlv', id) ? await db.delivery.findFirst({ ...query, where: { id, projectId } }) : null;
  if (delivery === null) throw notFound('delivery');
  return delivery;
}

/** The request body of each event by event id, byte for byte the same on every call. */
export async function bodiesOf(eventIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await pool.query<EventRow>(
    `SELECT id AS event_id, type AS event_type, created_at AS event_created_at, project_id, data::text AS data
     FROM events WHERE id = ANY ($1)`,
    [eventIds],
  );
  return new Map(rows.map((row) => [row.event_id, renderBody(row)]));
}

/**
 * Delivers an event again as a new delivery with six attempts and the same body; returns the new delivery's id.
 * @throws DomainError `not_found`; `conflict` while the original is in progress or its endpoint is disabled.
 */
export async function replayDelivery(projectId: string, id: string): Promise<string> {
  const { state, endpointId, eventId } = await getDelivery(projectId, id);
  if (state === 'queued' || state === 'retried') {
    throw new DomainError(
      'conflict',
      'The delivery is still in progress. Replay it once it is acknowledged or failed.',
    );
  }
  await requireEnabledEndpoint(projectId, endpointId);
  const replay = newId('dlv');
  const replayed = await insertAndNotify(
    // Locked, so that neither endpoint nor event is deleted meanwhile: there are no foreign keys between partitioned tables.
    `INSERT INTO deliveries (id, project_id, endpoint_id, event_id, replay_of)
     SELECT $1, e.project_id, w.id, e.id, $5 FROM webhook_endpoints w, events e
     WHERE w.id = $3 AND e.id = $4 AND e.project_id = $2 FOR KEY SHARE RETURNING id`,
    [replay, projectId, endpointId, eventId, id],
  );
  if (replayed === 0) throw notFound('delivery');
  return replay;
}

/** It waits while its endpoint takes no more requests at once, or only a few. */
const FIRST_ATTEMPT = 'The first attempt of this delivery is queued or in progress.';

/**
 * Makes a delivery's next attempt now. A delivery owned by a workflow gets a signal; one waiting in the table becomes
 * due.
 * @throws DomainError `not_found`; `conflict` unless it is waiting for a retry to an enabled endpoint.
 */
export async function retryDelivery(projectId: string, id: string): Promise<void> {
  const { endpointId, state } = await getDelivery(projectId, id);
  if (state === 'acknowledged' || state === 'failed') {
    throw new DomainError(
      'conflict',
      `This delivery is ${state}, so no attempt is due. Replay it to deliver it again.`,
    );
  }
  await requireEnabledEndpoint(projectId, endpointId);
  await inTransaction(async (tx) => {
    const isWaiting = await interruptWait(tx, id, 'retryNow', { next_attempt_at: 'now()' });
    if (!isWaiting)
      throw new DomainError(
        'conflict',
        state === 'queued' ? FIRST_ATTEMPT : 'An attempt of this delivery is in progress. Try again in a moment.',
      );
    await tx.query(`SELECT pg_notify('postroom', 'deliveries')`);
  });
}

/**
 * Makes no further attempt of a delivery. One owned by a workflow gets a signal and fails within seconds; one waiting in
 * the table fails at once.
 * @throws DomainError `not_found`; `conflict` unless it is waiting for a retry.
 */
export async function giveUpDelivery(projectId: string, id: string): Promise<void> {
  const { state } = await getDelivery(projectId, id);
  if (state !== 'retried') {
    throw new DomainError(
      'conflict',
      state === 'queued' ? FIRST_ATTEMPT : `This delivery is ${state}, so no attempt is due.`,
    );
  }
  await inTransaction(async (tx) => {
    const closed = { state: `'failed'::delivery_state`, closed_at: 'now()', next_attempt_at: 'NULL' };
    if (!(await interruptWait(tx, id, 'giveUp', closed)))
      throw new DomainError(
        'conflict',
        'An attempt of this delivery is in progress or has just ended it. Try again in a moment.',
      );
  });
}

/**
 * Ends the wait of a delivery for its next attempt: signals the workflow that owns it, or sets columns, given as SQL, of one
 * that waits in the table. @returns false if it is not waiting: a batch makes its attempt right away.
 */
async function interruptWait(
  tx: Tx,
  id: string,
  signal: 'retryNow' | 'giveUp',
  columns: Record<string, string>,
): Promise<boolean> {
  const set = Object.entries(columns).map(
    ([column, value]) => `${column} = CASE WHEN dispatched_at IS NULL THEN ${value} ELSE ${column} END`,
  );
  const [waiting] = await sql<{ workflow_id: string | null }>(
    tx,
    `UPDATE deliveries SET ${set.join(', ')}
     WHERE id = $1 AND state = 'retried' AND (workflow_id IS NULL OR NOT starts_with(workflow_id, 'batch_')) RETURNING CASE WHEN dispatched_at IS NOT NULL THEN workflow_id END AS workflow_id`,
    [id],
  );
  if (waiting === undefined) return false;
  if (waiting.workflow_id !== null) await signalWorkflow(tx, { workflowId: waiting.workflow_id, signal });
  return true;
}

/** Deliveries that are replayed in a statement. */
const PAGE = 5_000;

interface ReplayedPage {
  replayed: number;
  /** The last failed delivery, if there may be others. */
  last: string | null;
}

const REPLAY_PAGE = `
  WITH failed AS (
    SELECT * FROM deliveries d
    WHERE d.endpoint_id = $1 AND d.state = 'failed' AND d.closed_at >= $2 AND d.id > $3
      AND NOT EXISTS (SELECT 1 FROM deliveries r WHERE r.replay_of = d.id)
    ORDER BY d.id LIMIT ${PAGE}
  ), locked AS (
    SELECT failed.* FROM failed JOIN webhook_endpoints w ON w.id = failed.endpoint_id
    CROSS JOIN LATERAL ${rowWithId('events', 'e', 'failed.event_id', 'FOR KEY SHARE')} e
    FOR KEY SHARE OF w
  ), added AS (
    INSERT INTO deliveries (id, project_id, endpoint_id, event_id, replay_of)
    SELECT postroom_id('dlv'), project_id, endpoint_id, event_id, id FROM locked ORDER BY id RETURNING id
  ), notified AS (SELECT pg_notify('postroom', 'deliveries') FROM added LIMIT 1)
  SELECT CASE WHEN count(*) = ${PAGE} THEN max(id) END AS last,
    (SELECT count(*)::int FROM added LEFT JOIN notified ON true) AS replayed FROM failed`;

/**
 * Replays the deliveries to an endpoint that failed since a time, oldest first, and returns their number. Deliveries
 * replayed before are skipped, so a repeated call is safe.
 * @throws DomainError `not_found`, or `conflict` if the endpoint is disabled.
 */
export async function replayFailed(projectId: string, endpointId: string, since: Date): Promise<number> {
  await requireEnabledEndpoint(projectId, endpointId);
  let replayed = 0;
  await inPages(projectId, async (after) => {
    const [page] = await sql<ReplayedPage>(db, REPLAY_PAGE, [endpointId, since, after]);
    replayed += page?.replayed ?? 0;
    return page?.last ?? null;
  });
  return replayed;
}

/**
 * Queues a `webhook.test` event for one endpoint, regardless of the types it subscribes to (spec: Event types).
 * @throws DomainError `not_found`, or `conflict` if the endpoint is disabled.
 */
export async function sendTestEvent(
  projectId: string,
  endpointId: string,
): Promise<{ eventId: string; deliveryId: string }> {
  await requireEnabledEndpoint(projectId, endpointId);
  const data = { endpoint_id: endpointId, message: 'This is a test of your webhook endpoint.' };
  return inTransaction(async (tx) => {
    const [eventId = ''] = await record(tx, projectId, [{ type: 'webhook.test', data }]);
    const { rows } = await tx.query<{ id: string }>('SELECT id FROM deliveries WHERE event_id = $1', [eventId]);
    if (rows[0] === undefined) throw new DomainError('conflict', 'The endpoint has just been disabled.');
    return { eventId, deliveryId: rows[0].id };
  });
}

async function requireEnabledEndpoint(projectId: string, id: string): Promise<void> {
  const { enabled } = await getEndpoint(projectId, id);
  if (!enabled) throw new DomainError('conflict', 'The endpoint is disabled. Enable it first.');
}

/** Runs an INSERT … RETURNING and notifies the dispatcher in one statement; returns the number of rows. */
async function insertAndNotify(insert: string, values: unknown[]): Promise<number> {
  const [row] = await sql<{ count: number }>(
    db,
    `WITH added AS (${insert}), notified AS (SELECT pg_notify('postroom', 'deliveries') FROM added LIMIT 1)
     SELECT count(*)::int AS count FROM added LEFT JOIN notified ON true`,
    values,
  );
  return row?.count ?? 0;
}
