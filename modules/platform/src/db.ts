import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { config } from './config.ts';
import { logger } from './logger.ts';
import { applicationName } from './programs.ts';

export type { Prisma } from '../generated/prisma/client.ts';

let statementTimeoutSeconds = config.STATEMENT_TIMEOUT_SECONDS;

/** Switches this process to the background statement timeout; call before its first statement. */
export function useBackgroundTimeouts(): void {
  statementTimeoutSeconds = config.BACKGROUND_STATEMENT_TIMEOUT_SECONDS;
}

/** Session settings. The timeout also cancels statements whose caller has gone. */
export function sessionSettings(): string {
  return `SET statement_timeout = ${Math.round(statementTimeoutSeconds * 1000)}`;
}

/** Connections for hand-written SQL: set-based or hot statements. Prisma draws from the same pool. */
export const pool = new pg.Pool({
  ...(config.DATABASE_URL === undefined ? {} : { connectionString: config.DATABASE_URL }),
  application_name: applicationName(),
  max: config.DATABASE_POOL,
  connectionTimeoutMillis: 10_000,
  idleTimeoutMillis: 60_000,
  keepAlive: true,
  // Every search scans the GIN pending list, so keep it short (in kB; PostgreSQL's default is 4 MB).
  onConnect: async (client) => void (await client.query(`SET gin_pending_list_limit = 512; ${sessionSettings()}`)),
});
// The pool replaces an idle connection that the server closed. Without a handler the event would end the process.
pool.on('error', (error) => logger.warn({ err: error }, 'idle database connection lost'));
ignoreConnectionErrors(pool);

/**
 * Keeps a lost connection from ending the process. pg also emits an error event on the connection, which the pool
 * handles only while it is idle. The holder learns of the loss from its failing statement.
 */
export function ignoreConnectionErrors(of: pg.Pool): void {
  of.on('connect', (client) => void client.on('error', () => {}));
}

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
export const db = new PrismaClient({ adapter: new PrismaPg(pool, { statementNameGenerator }) });

/** A transaction of either kind: Prisma's, or a connection inside `inTransaction`. */
export type Tx = Prisma.TransactionClient | pg.ClientBase | pg.Pool;

/** Runs `work` in a transaction on its own connection of a pool; an error rolls it back. */
export async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>, of: pg.Pool = pool): Promise<T> {
  const client = await of.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
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

/** Runs one statement in a transaction of either kind and returns its rows. */
export async function sql<Row = Record<string, unknown>>(tx: Tx, text: string, values: unknown[] = []): Promise<Row[]> {
  if ('$queryRawUnsafe' in tx) return tx.$queryRawUnsafe<Row[]>(text, ...values);
  const result = await tx.query(text, values);
  return result.rows as Row[];
}

/** Closes every connection, so that the process can exit. */
export async function closeDatabase(): Promise<void> {
  await db.$disconnect();
  if (!pool.ended) await pool.end();
}
