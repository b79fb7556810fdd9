import { config, idsFrom, inTransaction, pool } from '@postroom/platform';

/** Rows that one statement deletes at most: locks are short, and an attempt to stop is heard soon. */
const BATCH = 1_000;

const DAY_MS = 24 * 60 * 60 * 1000;

/** What waits for a disabled endpoint is kept for so long (design: Webhooks). */
export const BACKLOG_DAYS = 7;

/** What was removed, in numbers. */
export interface Deleted {
  /** Deliveries that waited too long for a disabled endpoint: they are failed, not deleted. */
  givenUp: number;
  deliveries: number;
  events: number;
  idempotencyKeys: number;
}

interface Options {
  /** Days that events, deliveries and attempts are kept where a project does not say. */
  days?: number;
  now?: number;
  /** Called after each batch; when it throws, the rest is left for the next time. */
  onBatch?: () => void;
}

/**
 * Deletes what is older than it has to be kept, in batches: events, deliveries and attempts as long as their project keeps them.
 * What is open is never deleted: neither a delivery that may still be attempted, nor its event.
 */
export async function deleteOld({
  days = config.RETENTION_DAYS,
  now = Date.now(),
  onBatch = () => {},
}: Options = {}): Promise<Deleted> {
  const all = async (batch: () => Promise<number>) => {
    for (let total = 0; ;) {
      const count = await batch();
      total += count;
      onBatch();
      if (count < BATCH) return total;
    }
  };
  const deleted = { givenUp: 0, deliveries: 0, events: 0, idempotencyKeys: 0 };
  deleted.givenUp = await all(() => giveUpBacklog(new Date(now - BACKLOG_DAYS * DAY_MS)));
  for (const project of await eventRetentions(days)) {
    const before = new Date(now - project.days * DAY_MS);
    deleted.deliveries += await all(() => deleteDeliveries(project.projectId, before));
    deleted.events += await deleteEvents(project.projectId, before, onBatch);
  }
  deleted.idempotencyKeys = await all(() => deleteIdempotencyKeys(new Date(now - DAY_MS)));
  return deleted;
}

/**
 * How many days each project keeps events. They are deleted project by project: a walk over all of them would pass, every hour,
 * what the projects keep that keep it for years.
 */
async function eventRetentions(days: number): Promise<{ projectId: string; days: number }[]> {
  const { rows } = await pool.query<{ id: string; days: number }>(
    'SELECT id, coalesce(event_retention_days, $1) AS days FROM projects ORDER BY id',
    [days],
  );
  return rows.map((row) => ({ projectId: row.id, days: row.days }));
}

async function giveUpBacklog(disabledBefore: Date): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE deliveries SET state = 'failed', closed_at = now(), next_attempt_at = NULL
     WHERE id IN (
       SELECT d.id FROM deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id
       WHERE NOT w.enabled AND w.disabled_at < $1 AND d.dispatched_at IS NULL AND d.closed_at IS NULL
       LIMIT ${BATCH} FOR UPDATE OF d SKIP LOCKED
     )`,
    [disabledBefore],
  );
  return rowCount ?? 0;
}

/** Ids begin with the time, so the oldest rows are a project's first. Attempts go with their delivery. */
async function deleteDeliveries(projectId: string, closedBefore: Date): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM deliveries WHERE id IN (
       SELECT id FROM deliveries WHERE project_id = $1 AND id < $2 AND closed_at < $3
        ORDER BY id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
     )`,
    [projectId, idsFrom('dlv', closedBefore), closedBefore],
  );
  return rowCount ?? 0;
}

/** Walks over the old events of a project once and deletes those that no delivery needs any more. */
async function deleteEvents(projectId: string, createdBefore: Date, onBatch: () => void): Promise<number> {
  for (let total = 0, after = ''; ;) {
    const { last, deleted } = await deleteEventsAfter(projectId, after, createdBefore);
    total += deleted;
    onBatch();
    if (last === undefined) return total;
    after = last;
  }
}

/** Locked first: a replay that is asked for at this moment either finds its event gone, or keeps it. */
async function deleteEventsAfter(
  projectId: string,
  after: string,
  createdBefore: Date,
): Promise<{ last?: string; deleted: number }> {
  return inTransaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `SELECT id FROM events WHERE project_id = $1 AND id > $2 AND id < $3 AND created_at < $4
        ORDER BY id LIMIT ${BATCH} FOR UPDATE`,
      [projectId, after, idsFrom('evt', createdBefore), createdBefore],
    );
    const { rowCount } = await tx.query(
      `DELETE FROM events e WHERE id = ANY ($1) AND NOT EXISTS (SELECT FROM deliveries d WHERE d.event_id = e.id)`,
      [rows.map(({ id }) => id)],
    );
    const last = rows.length === BATCH ? rows.at(-1)?.id : undefined;
    return { deleted: rowCount ?? 0, ...(last === undefined ? {} : { last }) };
  });
}

/** An idempotency key is good for 24 hours; then the same key may stand for another request. */
async function deleteIdempotencyKeys(createdBefore: Date): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM idempotency_keys WHERE (project_id, key) IN (
       SELECT project_id, key FROM idempotency_keys WHERE created_at < $1 LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
     )`,
    [createdBefore],
  );
  return rowCount ?? 0;
}
