import { hasCode, inTransaction, LOCK_NOT_AVAILABLE, pool } from '@postroom/platform';
import { LATE_DAYS } from './check-event.ts';

/** How far ahead partitions exist. A worker may be down for this long before inserts have to create them. */
const AHEAD = '62 days';

/** Makes sure that the months in which events may occur have partitions, and those of the near future. */
export async function createPartitions(): Promise<void> {
  await pool.query(
    `SELECT create_custom_event_partitions((now() - interval '${LATE_DAYS + 1} days')::date, (now() + interval '${AHEAD}')::date)`,
  );
}

export interface Partition {
  /** The table partitioned, and its partition. */
  parent: string;
  name: string;
  /** The first day after it. */
  until: Date;
}

const PARTITIONS = `
  SELECT parent.relname AS parent, child.relname AS name,
    (to_date(right(child.relname, 6), 'YYYYMM') + interval '1 month')::date::timestamp AT TIME ZONE 'UTC' AS until
    FROM pg_inherits i JOIN pg_class child ON child.oid = i.inhrelid JOIN pg_class parent ON parent.oid = i.inhparent
   WHERE i.inhparent IN ('custom_events'::regclass, 'custom_event_contact_days'::regclass) ORDER BY child.relname`;

/** The partitions, oldest month first. */
export async function listPartitions(): Promise<Partition[]> {
  const { rows } = await pool.query<Partition>(PARTITIONS);
  return rows;
}

/**
 * Drops a partition. This locks the table partitioned, so it gives up rather than block inserts for long behind a query that
 * is still reading; the next run tries again.
 * @returns whether it was dropped.
 */
export async function dropPartition({ name }: Partition): Promise<boolean> {
  try {
    await inTransaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = '1s'`);
      await tx.query('SELECT drop_custom_event_partition($1)', [name]);
    });
    return true;
  } catch (error) {
    if (!hasCode(error, LOCK_NOT_AVAILABLE)) throw error;
    return false;
  }
}

/** Whether a partition has no rows. */
export async function isEmpty({ name }: Partition): Promise<boolean> {
  const { rows } = await pool.query<{ empty: boolean }>('SELECT is_custom_event_partition_empty($1) AS empty', [name]);
  return rows[0]?.empty ?? false;
}
