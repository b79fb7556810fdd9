import { hasCode, LOCK_NOT_AVAILABLE, retry } from '@postroom/errors';
import type pg from 'pg';
import { LOCK_RETRY_DELAYS_MS, LOCK_TIMEOUT_MS } from './lock-timeout.ts';

/** Partitions that lack an index of their table which a migration created with `ON ONLY`. */
const MISSING = `
  SELECT parent.relname AS index, part.relname AS partition, pg_get_indexdef(parent.oid) AS definition
  FROM pg_index i JOIN pg_class parent ON parent.oid = i.indexrelid AND parent.relkind = 'I'
  JOIN pg_inherits p ON p.inhparent = i.indrelid JOIN pg_class part ON part.oid = p.inhrelid
  WHERE NOT i.indisvalid AND NOT EXISTS (
    SELECT FROM pg_inherits a JOIN pg_index ai ON ai.indexrelid = a.inhrelid WHERE a.inhparent = i.indexrelid AND ai.indrelid = part.oid)
  ORDER BY 1, 2`;

/** The most characters of a name in PostgreSQL. */
const MAX_NAME = 63;

/**
 * Builds indexes of partitioned tables in the partitions that lack them, while these are written to: PostgreSQL can't do that for the whole
 * table. It goes on where a killed process stopped. The caller holds the migration lock.
 */
export async function buildPartitionedIndexes(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ index: string; partition: string; definition: string }>(MISSING);
  for (const { index, partition, definition } of rows) {
    const name = `"${`${partition}_${index}`.slice(0, MAX_NAME)}"`;
    const rest = definition.slice(definition.indexOf(' USING '));
    // A process that was killed may have left one that is incomplete.
    await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    await client.query(`CREATE INDEX CONCURRENTLY ${name} ON "${partition}"${rest}`);
    await retry(() => attach(client, `ALTER INDEX "${index}" ATTACH PARTITION ${name}`), {
      delaysMs: LOCK_RETRY_DELAYS_MS,
      isRetryable: (error) => hasCode(error, LOCK_NOT_AVAILABLE),
    });
  }
}

async function attach(client: pg.ClientBase, statement: string): Promise<void> {
  await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    await client.query(statement);
  } finally {
    await client.query('RESET lock_timeout');
  }
}
