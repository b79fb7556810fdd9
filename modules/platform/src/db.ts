import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { config } from './config.ts';
import { logger } from './logger.ts';

export type { Prisma } from '../generated/prisma/client.ts';

let statementTimeoutSeconds = config.STATEMENT_TIMEOUT_SECONDS;

/** Gives statements of this process the time that work in the background may take; called before its first statement. */
export function useBackgroundTimeouts(): void {
  statementTimeoutSeconds = config.BACKGROUND_STATEMENT_TIMEOUT_SECONDS;
}

/** What every connection is told first: a statement that takes too long is canceled, also when nobody waits for it any more. */
export function sessionSettings(): string {
  return `SET statement_timeout = ${Math.round(statementTimeoutSeconds * 1000)}`;
}

/** Connections for SQL written by hand: what is set-based or hot. Prisma draws from the same pool. */
export const pool = new pg.Pool({
  ...(config.DATABASE_URL === undefined ? {} : { connectionString: config.DATABASE_URL }),
  max: config.DATABASE_POOL,
  connectionTimeoutMillis: 10_000,
  idleTimeoutMillis: 60_000,
  keepAlive: true,
  // Every search reads what waits to be merged into the index it uses, up to this many kB; PostgreSQL's own bound is 4 MB.
  onConnect: async (client) => void (await client.query(`SET gin_pending_list_limit = 512; ${sessionSettings()}`)),
});
// An idle connection that the server closes is replaced at the next use; unheard, the event would end the process.
pool.on('error', (error) => logger.warn({ err: error }, 'an idle database connection broke'));
ignoreConnectionErrors(pool);

/**
 * Lets a connection that somebody holds break without ending the process: pg says so by an event on the connection as well,
 * which nobody but the pool hears, and only of idle ones. Whoever holds it learns it from the statement that fails.
 */
export function ignoreConnectionErrors(of: pg.Pool): void {
  of.on('connect', (client) => void client.on('error', () => {}));
}

/** One name per SQL text, so that PostgreSQL parses and plans it once a connection. */
const statementName = (text: string) => `p${createHash('sha1').update(text).digest('base64url').slice(0, 16)}`;
const statementNames = new Map<string, string>();
/** Lists of varying length make texts without end; past this many, statements go unnamed. */
const MAX_STATEMENT_NAMES = 500;

function statementNameGenerator({ sql }: { sql: string }): string {
  const known = statementNames.get(sql);
  if (known !== undefined) return known;
  if (statementNames.size >= MAX_STATEMENT_NAMES) return '';
  const name = statementName(sql);
  statementNames.set(sql, name);
  return name;
}

/** The typed client. Rules use it for rows; `pool` is for what touches many at once. */
export const db = new PrismaClient({ adapter: new PrismaPg(pool, { statementNameGenerator }) });

/** A transaction of either kind: Prisma's, or a connection inside `inTransaction`. */
export type Tx = Prisma.TransactionClient | pg.ClientBase | pg.Pool;

/** Runs `work` in one transaction on a connection of its own; an error rolls it back. */
export async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // A connection whose rollback fails is broken, or still in a transaction: it must not go back to the pool.
    await client.query('ROLLBACK').then(
      () => client.release(),
      () => client.release(true),
    );
    throw error;
  }
}

/** Runs one statement in a transaction of either kind and returns its rows. */
export async function sql<Row = Record<string, unknown>>(tx: Tx, text: string, values: unknown[] = []): Promise<Row[]> {
  if ('$queryRawUnsafe' in tx) return tx.$queryRawUnsafe<Row[]>(text, ...values);
  const result = await tx.query(text, values);
  return result.rows as Row[];
}

/** Closes every connection; the process can end. */
export async function closeDatabase(): Promise<void> {
  await db.$disconnect();
  if (!pool.ended) await pool.end();
}
