import { DomainError } from '@postroom/errors';
import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.ts';
import { config } from '@postroom/settings/config';
import { observingTransactions, runTransaction, type Tx } from './transaction-observer.ts';
import { closePools, createPool, liftStatementTimeout } from './connection-pool.ts';
import { measurePool } from '@postroom/observability';

export type { Prisma } from '../generated/prisma/client.ts';

/** Connections for hand-written SQL: set-based or hot statements. Prisma draws from the same pool. */
export const pool = createPool(config.databasePools.main, {
  // Every search scans the GIN pending list, so keep it short (in kB; PostgreSQL's default is 4 MB).
  gin_pending_list_limit: 512,
});
measurePool('main', pool);

/** One name per SQL text, so that PostgreSQL parses and plans it once per connection. */
const statementName = (text: string) => `p${createHash('sha1').update(text).digest('base64url').slice(0, 16)}`;
const statementNames = new Map<string, string>();
/** Variable-length lists produce unlimited texts; past this many, statements are unnamed. */
const MAX_STATEMENT_NAMES = 500;

function statementNameGenerator({ sql }: { sql: string }): string {
  const known = statementNames.get(sql);
  if (known !== undefined) return known;
  if (statementNames.size >= MAX_STATEMENT_NAMES) return '';
  const name = statementName(sql);
  statementNames.set(sql, name);
  return name;
}

/** The typed client. Rules use it for single rows, and `pool` for set-based statements. */
export const db = observingTransactions(
  new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator }),
    // Under load, a transaction may wait as long as other work does: for a connection of the pool, and for a statement.
    transactionOptions: { maxWait: 10_000, timeout: 15_000 },
  }),
);

/** Runs `work` in a transaction on its own connection of a pool; an error rolls it back. */
export async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>, of: pg.Pool = pool): Promise<T> {
  const client = await of.connect();
  try {
    await client.query('BEGIN');
    const result = await runTransaction(client, () => work(client));
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // If the rollback fails, the connection is broken or still in a transaction, so it must not return to the pool.
    await client.query('ROLLBACK').then(
      () => client.release(),
      () => client.release(true),
    );
    throw error;
  }
}

/** Runs a statement that may take long, such as one that reads a whole table, without the time limit of others. */
export function queryPatiently<Row>(text: string, values: unknown[]): Promise<Row[]> {
  return inTransaction(async (client) => {
    await liftStatementTimeout(client);
    return (await client.query(text, values)).rows as Row[];
  });
}

/** The SQL time that due times compare with: columns round to milliseconds, so what is due now may be stored up to 0.5 ms ahead of `now()`. */
export const NOW = 'now()::timestamptz(3)';

/** Runs one statement in a transaction of either kind and returns its rows. */
export async function sql<Row = Record<string, unknown>>(tx: Tx, text: string, values: unknown[] = []): Promise<Row[]> {
  if ('$queryRawUnsafe' in tx) return tx.$queryRawUnsafe<Row[]>(text, ...values);
  const result = await tx.query(text, values);
  return result.rows as Row[];
}

/** What the deletes of expired rows take. */
export interface RetentionOptions {
  /** Retention in days for projects without their own setting, if there is one; the configured default if omitted. */
  days?: number | undefined;
  /** The time that retention ends at, in ms since the epoch. */
  now?: number;
  /** Called after each batch. If it throws, the next run continues with the rest. */
  onBatch?: () => void;
}

/**
 * Repeats a DELETE of at most `batch` rows until fewer are left, so that no transaction is long. If `onBatch`, called after each,
 * throws, the rest is left for the next call. @returns the number of rows deleted.
 */
export async function deleteInBatches(
  text: string,
  values: unknown[],
  { batch, onBatch = () => {} }: { batch: number; onBatch?: () => void },
): Promise<number> {
  for (let total = 0; ;) {
    const { rowCount } = await pool.query(text, values);
    total += rowCount ?? 0;
    onBatch();
    if ((rowCount ?? 0) < batch) return total;
  }
}

/**
 * Enforces a limit of rows, such as the segments of a project, in the transaction that inserted one: `count` counts them, the new one
 * included. Concurrent transactions wait for each other here, and only until the commit, so each counts what the others inserted.
 * @throws DomainError `conflict`.
 */
export async function checkLimit(
  tx: Tx,
  { of, rows, max, whose = 'A project' }: { of: string; rows: string; max: number; whose?: string },
  count: () => Promise<number>,
): Promise<void> {
  await lockUntilCommit(tx, `${rows} ${of}`);
  if ((await count()) > max)
    throw new DomainError('conflict', `${whose} has at most ${max.toLocaleString('en')} ${rows}. Remove one first.`);
}

/**
 * Waits until no other transaction holds the lock `name`, and holds it until this one ends. Take it before counting the rows that
 * a limit applies to, and insert in the same transaction: otherwise concurrent requests all count the rows before any of them
 * inserts one.
 */
export async function lockUntilCommit(tx: Tx, name: string): Promise<void> {
  await sql(tx, 'SELECT pg_advisory_xact_lock(hashtextextended($1, 3))::text', [name]);
}

/** Closes every connection, so that the process can exit. */
export async function closeDatabase(): Promise<void> {
  await db.$disconnect();
  await closePools();
}
