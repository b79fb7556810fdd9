import { config, deleteEventsWhere, deleteIdempotencyKeys, idsFrom, inTransaction, pool } from '@postroom/platform';
import { POLICY } from './policy.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Rows removed, by kind. */
export interface Deleted {
  /** Deliveries that waited too long for a disabled endpoint. They are failed, not deleted. */
  givenUp: number;
  deliveries: number;
  events: number;
  idempotencyKeys: number;
  /** Hourly counts of attempts. */
  hours: number;
}

interface Options {
  /** Default retention of events, deliveries and attempts, in days, for projects without their own setting. */
  days?: number;
  now?: number;
  /** Called after each batch. If it throws, the next run continues from there. */
  onBatch?: () => void;
}

/**
 * Deletes expired rows in batches; events, deliveries and attempts expire by project. Deliveries in progress and
 * their events are never deleted.
 */
export async function deleteOld({
  days = config.RETENTION_DAYS,
  now = Date.now(),
  onBatch = () => {},
}: Options = {}): Promise<Deleted> {
  const deleteAll = async (batch: () => Promise<number>) => {
    for (let total = 0; ;) {
      const count = await batch();
      total += count;
      onBatch();
      if (count < POLICY.retention.batchSize) return total;
    }
  };
  const deleted = { givenUp: 0, deliveries: 0, events: 0, idempotencyKeys: 0, hours: 0 };
  deleted.givenUp = await deleteAll(() => failBacklog(new Date(now - POLICY.retention.backlogDays * DAY_MS)));
  for (const project of await eventRetentions(days)) {
    const before = new Date(now - project.days * DAY_MS);
    deleted.deliveries += await deleteAll(() => deleteDeliveries(project.projectId, before));
    deleted.events += await deleteEvents(project.projectId, before, onBatch);
  }
  deleted.idempotencyKeys = await deleteAll(() =>
    // Keys are valid for 24 hours; after that, a key may be reused for another request.
    deleteIdempotencyKeys(new Date(now - DAY_MS), POLICY.retention.batchSize),
  );
  deleted.hours = await deleteAll(() => deleteHours(new Date(now - POLICY.retention.hoursDays * DAY_MS)));
  return deleted;
}

async function deleteHours(before: Date): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM webhook_endpoint_hours WHERE (endpoint_id, hour) IN (
       SELECT endpoint_id, hour FROM webhook_endpoint_hours WHERE hour < $1 LIMIT ${POLICY.retention.batchSize}
     )`,
    [before],
  );
  return rowCount ?? 0;
}

/**
 * Each project's retention. Deletion goes project by project: an hourly scan across projects would re-read everything
 * that long-retention projects keep.
 */
async function eventRetentions(days: number): Promise<{ projectId: string; days: number }[]> {
  const { rows } = await pool.query<{ id: string; days: number }>(
    'SELECT id, coalesce(event_retention_days, $1) AS days FROM projects ORDER BY id',
    [days],
  );
  return rows.map((row) => ({ projectId: row.id, days: row.days }));
}

async function failBacklog(disabledBefore: Date): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE deliveries SET state = 'failed', closed_at = now(), next_attempt_at = NULL
     WHERE id IN (
       SELECT d.id FROM deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id
       WHERE NOT w.enabled AND w.disabled_at < $1 AND d.dispatched_at IS NULL AND d.closed_at IS NULL
       LIMIT ${POLICY.retention.batchSize} FOR UPDATE OF d SKIP LOCKED
     )`,
    [disabledBefore],
  );
  return rowCount ?? 0;
}

/** Ids sort by time, so a project's oldest rows come first. Attempts are deleted with their delivery (cascade). */
async function deleteDeliveries(projectId: string, closedBefore: Date): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM deliveries WHERE id IN (
       SELECT id FROM deliveries WHERE project_id = $1 AND id < $2 AND closed_at < $3
        ORDER BY id LIMIT ${POLICY.retention.batchSize} FOR UPDATE SKIP LOCKED
     )`,
    [projectId, idsFrom('dlv', closedBefore), closedBefore],
  );
  return rowCount ?? 0;
}

/** Scans a project's expired events once and deletes those without deliveries. */
async function deleteEvents(projectId: string, createdBefore: Date, onBatch: () => void): Promise<number> {
  for (let total = 0, after = ''; ;) {
    const { last, deleted } = await deleteEventsAfter(projectId, after, createdBefore);
    total += deleted;
    onBatch();
    if (last === undefined) return total;
    after = last;
  }
}

/** Locks the events first, so that a concurrent replay either finds its event gone or keeps it. */
async function deleteEventsAfter(
  projectId: string,
  after: string,
  createdBefore: Date,
): Promise<{ last?: string; deleted: number }> {
  return inTransaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `SELECT id FROM events WHERE project_id = $1 AND id > $2 AND id < $3 AND created_at < $4
        ORDER BY id LIMIT ${POLICY.retention.batchSize} FOR UPDATE`,
      [projectId, after, idsFrom('evt', createdBefore), createdBefore],
    );
    const { rowCount } = await tx.query(
      deleteEventsWhere('id = ANY ($1) AND NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = e.id)'),
      [rows.map(({ id }) => id)],
    );
    const last = rows.length === POLICY.retention.batchSize ? rows.at(-1)?.id : undefined;
    return { deleted: rowCount ?? 0, ...(last === undefined ? {} : { last }) };
  });
}
