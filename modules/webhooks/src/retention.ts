import {
  analyzeChanged,
  configuredArchive,
  dropPartitions,
  extendPartitions,
  longestRetention,
  weekOrMonth,
} from '@postroom/partitions';
import {
  config,
  databaseNow,
  deleteEventsWhere,
  deleteIdempotencyKeys,
  idsFrom,
  inTransaction,
  pool,
  queryPatiently,
  type RetentionOptions,
} from '@postroom/platform';
import { POLICY } from './policy.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Rows removed, by kind. */
export interface Deleted {
  /** Deliveries that waited too long for a disabled endpoint. They are failed, not deleted. */
  givenUp: number;
  deliveries: number;
  events: number;
  /** Partitions of events, deliveries and attempts, with all of their rows. */
  partitions: number;
  idempotencyKeys: number;
  /** Hourly counts of attempts. */
  hours: number;
}

const EVENTS = { name: 'events', prefix: 'evt' } as const;
const DELIVERIES = { name: 'deliveries', prefix: 'dlv' } as const;
/** Partitioned by delivery, so that an attempt is in the partition of the same time as its delivery. */
const ATTEMPTS = { name: 'attempts', prefix: 'dlv' } as const;

/**
 * Deletes what has expired. Events, deliveries and attempts of projects with the longest retention are dropped with their partitions;
 * those of other projects, and the rest, are deleted in batches. Deliveries in progress and their events are never deleted.
 */
export async function deleteOld({
  days = config.RETENTION_DAYS,
  now = databaseNow(),
  onBatch = () => {},
}: RetentionOptions = {}): Promise<Deleted> {
  const deleteAll = async (batch: () => Promise<number>) => {
    for (let total = 0; ;) {
      const count = await batch();
      total += count;
      onBatch();
      if (count < POLICY.retention.batchSize) return total;
    }
  };
  const deleted = { givenUp: 0, deliveries: 0, events: 0, partitions: 0, idempotencyKeys: 0, hours: 0 };
  deleted.givenUp = await deleteAll(() => failBacklog(new Date(now - POLICY.retention.backlogDays * DAY_MS)));
  const retentions = await eventRetentions(days);
  const { longest, before: expired } = longestRetention(retentions, now);
  for (const table of [EVENTS, DELIVERIES, ATTEMPTS]) {
    await extendPartitions(table, weekOrMonth(longest));
    await analyzeChanged(table);
  }
  const dropped = await dropExpired(expired, onBatch);
  deleted.partitions = dropped.partitions;
  for (const project of retentions) {
    const before = new Date(now - project.days * DAY_MS);
    // What is dropped with its partition need not be deleted before.
    const until = (batches: Date) => (project.days < longest || before < batches ? before : batches);
    deleted.deliveries += await deleteAll(() =>
      deleteDeliveries(project.projectId, { created: until(dropped.deliveriesUntil), closed: before }),
    );
    deleted.events += await deleteEvents(project.projectId, until(dropped.eventsUntil), onBatch);
  }
  deleted.idempotencyKeys = await deleteAll(() =>
    // Keys are valid for 24 hours; after that, a key may be reused for another request.
    deleteIdempotencyKeys(new Date(now - DAY_MS), POLICY.retention.batchSize),
  );
  deleted.hours = await deleteAll(() => deleteHours(new Date(now - POLICY.retention.hoursDays * DAY_MS)));
  return deleted;
}

/** Drops the partitions that no project keeps, except what deliveries in progress, or closed lately, need of them. */
async function dropExpired(before: Date, onBatch: () => void) {
  const archive = configuredArchive();
  const ids = async (text: string, values: unknown[]) =>
    (await queryPatiently<{ id: string }>(text, values)).map(({ id }) => id);
  const kept = ({ from, to }: { from: string; to: string }, limit: number) =>
    ids('SELECT id FROM deliveries WHERE id >= $1 AND id < $2 AND (closed_at IS NULL OR closed_at >= $3) LIMIT $4', [
      from,
      to,
      before,
      limit,
    ]);
  // Only a delivery can be replayed, so none will refer to an event that none refers to once the deliveries are dropped.
  const referred = ({ from, to }: { from: string; to: string }, limit: number) =>
    ids('SELECT DISTINCT event_id AS id FROM deliveries WHERE event_id >= $1 AND event_id < $2 LIMIT $3', [
      from,
      to,
      limit,
    ]);
  const attempts = await dropPartitions(ATTEMPTS, before, { needed: kept, archive, onBatch });
  const deliveries = await dropPartitions(DELIVERIES, before, { needed: kept, archive, onBatch });
  const events = await dropPartitions(EVENTS, before, { needed: referred, archive, onBatch });
  return {
    partitions: attempts.partitions + deliveries.partitions + events.partitions,
    deliveriesUntil: deliveries.batchesUntil,
    eventsUntil: events.batchesUntil,
  };
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
     WHERE id = ANY (ARRAY(
       SELECT d.id FROM deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id
       WHERE NOT w.enabled AND w.disabled_at < $1 AND d.dispatched_at IS NULL AND d.closed_at IS NULL
       LIMIT ${POLICY.retention.batchSize} FOR UPDATE OF d SKIP LOCKED
     ))`,
    [disabledBefore],
  );
  return rowCount ?? 0;
}

/** Ids sort by time, so a project's oldest rows come first. A trigger deletes the attempts. */
async function deleteDeliveries(projectId: string, before: { created: Date; closed: Date }): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM deliveries WHERE id < $2 AND id = ANY (ARRAY(
       SELECT id FROM deliveries WHERE project_id = $1 AND id < $2 AND closed_at < $3
        ORDER BY id LIMIT ${POLICY.retention.batchSize} FOR UPDATE SKIP LOCKED
     ))`,
    [projectId, idsFrom('dlv', before.created), before.closed],
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
