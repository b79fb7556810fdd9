import { retry } from '@postroom/errors';
import {
  hasCode,
  type IdPrefix,
  inTransaction,
  LOCK_NOT_AVAILABLE,
  logger,
  pool,
  queryPatiently,
  timeOfId,
} from '@postroom/platform';

/** A table that is partitioned by the time in its ids. The functions behind this are defined in a migration, which explains them. */
export interface PartitionedTable {
  name: string;
  /** Of the ids in the column that it is partitioned by. */
  prefix: IdPrefix;
}

export interface Partition {
  name: string;
  /** The lowest id it may have; null in the first one, `…_past`. */
  from: string | null;
  /** The lowest id after it; null in the last one, `…_rest`. */
  to: string | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The length of a partition: to the next first day of such a period. */
export type PartitionLength = '1 week' | '1 month' | '3 months' | '1 year';

/** Rows kept for up to this many days are in weekly partitions, others in monthly ones: every partition costs planning time. */
const WEEKLY_DAYS = 180;
export const weekOrMonth = (days: number): PartitionLength => (days > WEEKLY_DAYS ? '1 month' : '1 week');

/** How much of the future has partitions. Without a worker for longer, rows go to the last partition, and move when there is one. */
const AHEAD = '21 days';

/**
 * Attaching and detaching locks the table, and every other statement waits behind one that waits for a lock. So this gives up soon, lets
 * them pass, and tries again, in milliseconds.
 */
const LOCK_TIMEOUT_MS = 200;
const LOCK_RETRY_DELAYS_MS = [200, 400, 800, 1_600, 3_200];

const MOST_NEEDED = 10_000;

/** The partitions, oldest first. */
export async function listPartitions({ name }: PartitionedTable): Promise<Partition[]> {
  const { rows } = await pool.query<Partition>(
    'SELECT name, lower_bound AS "from", upper_bound AS "to" FROM list_partitions($1)',
    [name],
  );
  return rows;
}

/** Creates the partitions of the near future. */
export async function extendPartitions({ name, prefix }: PartitionedTable, length: PartitionLength): Promise<void> {
  await withTableLocked(name, 'SELECT extend_partitions($1, $2, $3, $4)', [name, prefix, length, AHEAD]);
}

/** Stores the rows of a partition elsewhere. @param onBatch called after each file. */
export type Archive = (table: PartitionedTable, partition: Partition, onBatch?: () => void) => Promise<void>;

export interface DropOptions {
  /** The ids, in the column partitioned by, of rows of a partition that must be kept, at most `limit`; undefined if it may still get rows. */
  needed: (partition: { from: string; to: string }, limit: number) => Promise<string[] | undefined>;
  /** More rows than this that are needed keep the partition: they are moved while the table is locked. 10,000 by default. */
  mostNeeded?: number;
  /** Called before a partition is dropped. If it throws, the partition is kept. */
  archive?: Archive | undefined;
  /** Called after each step that takes seconds. If it throws, the partition is kept. */
  onBatch?: () => void;
}

export interface Dropped {
  partitions: number;
  /**
   * Rows created before this time have to be deleted in batches. The first partition holds what was there before the table was partitioned,
   * and what was still needed of partitions dropped since. Without an archive, it includes partitions that are kept because too many rows
   * are needed.
   */
  batchesUntil: Date;
}

/**
 * Drops the partitions that end before a time, oldest first. Rows still needed move to the first partition. Stops at one that can't be
 * dropped now; the next run tries again.
 */
export async function dropPartitions(
  table: PartitionedTable,
  before: Date,
  { needed: readNeeded, mostNeeded = MOST_NEEDED, archive, onBatch = () => {} }: DropOptions,
): Promise<Dropped> {
  const dropped: Dropped = { partitions: 0, batchesUntil: new Date(0) };
  for (const partition of await listPartitions(table)) {
    const { name, from, to } = partition;
    if (from === null && to !== null) dropped.batchesUntil = timeOfId(to);
    if (from === null) continue;
    if (to === null || timeOfId(to) > before) break;
    const needed = await readNeeded({ from, to }, mostNeeded + 1);
    onBatch();
    if (needed === undefined || needed.length > mostNeeded) {
      if (needed !== undefined)
        logger.warn({ partition: name }, `more than ${mostNeeded} rows of the partition are still needed; it is kept`);
      // What is deleted in batches is not archived.
      return archive === undefined ? { ...dropped, batchesUntil: before } : dropped;
    }
    if (!(await isArchived(() => archive?.(table, partition, onBatch), partition))) break;
    if (!(await withTableLocked(table.name, 'SELECT check_past_bound($1, $2)', [table.name, name]))) break;
    await queryPatiently('SELECT validate_past_bound($1)', [table.name]);
    if (!(await withTableLocked(table.name, 'SELECT drop_partition($1, $2, $3)', [table.name, name, needed]))) break;
    logger.info({ partition: name, kept: needed.length }, 'dropped an expired partition');
    dropped.partitions++;
    dropped.batchesUntil = timeOfId(to);
  }
  return dropped;
}

/** Rows of the partitions that are not in the statistics of the whole table, and whether PostgreSQL can gather those alone. */
const CHANGED = `
  SELECT t.reltuples < 0 OR abs(sum(greatest(p.reltuples, 0)) - t.reltuples) > 0.1 * t.reltuples AS changed,
    current_setting('server_version_num')::int >= 180000 AS alone
  FROM pg_class t JOIN pg_inherits i ON i.inhparent = t.oid JOIN pg_class p ON p.oid = i.inhrelid
  WHERE t.oid = $1::regclass GROUP BY t.oid, t.reltuples`;

/**
 * Gathers the statistics of a whole table if it has changed by a tenth. Autovacuum does so for each partition only. Without them PostgreSQL
 * expects 200 different values in a column, and joins with a million rows one by one.
 */
export async function analyzeChanged({ name }: PartitionedTable): Promise<void> {
  const { rows } = await pool.query<{ changed: boolean; alone: boolean }>(CHANGED, [name]);
  if (rows[0]?.changed === true) await queryPatiently(`ANALYZE ${rows[0].alone ? 'ONLY ' : ''}${name}`, []);
}

async function isArchived(archive: () => Promise<void> | undefined, partition: Partition): Promise<boolean> {
  try {
    await archive();
    return true;
  } catch (error) {
    logger.error(
      { err: error, partition: partition.name },
      'could not archive a partition; it is kept until that succeeds',
    );
    return false;
  }
}

/** Runs a statement that locks the table. @returns whether it got the lock. */
export async function withTableLocked(table: string, text: string, values: unknown[]): Promise<boolean> {
  try {
    await retry(
      () =>
        inTransaction(async (tx) => {
          await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
          await tx.query(text, values);
        }),
      { delaysMs: LOCK_RETRY_DELAYS_MS, isRetryable: (error) => hasCode(error, LOCK_NOT_AVAILABLE) },
    );
    return true;
  } catch (error) {
    if (!hasCode(error, LOCK_NOT_AVAILABLE)) throw error;
    logger.warn({ table }, 'the table is in use, so its partitions are left as they are until the next run');
    return false;
  }
}

/** The longest of some retentions, in days, and the time before which nothing is kept. */
export function longestRetention(
  retentions: readonly { days: number }[],
  now: number,
): { longest: number; before: Date } {
  const longest = Math.max(1, ...retentions.map(({ days }) => days));
  return { longest, before: new Date(now - longest * DAY_MS) };
}
