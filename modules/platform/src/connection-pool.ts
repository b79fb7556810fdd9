import type { Socket } from 'node:net';
import pg from 'pg';
import { config } from '@postroom/settings/config';
import { assignments, type ConnectionSettings, KEEP_ALIVE_MS } from './connection-settings.ts';
import { logger } from '@postroom/observability';
import { applicationName } from '@postroom/settings';
import { inTransactionsOnly } from './transaction-mode.ts';

let statementTimeoutSeconds = config.STATEMENT_TIMEOUT_SECONDS;

/** Switches this process to the background statement timeout; call before its first statement. */
export function useBackgroundTimeouts(): void {
  statementTimeoutSeconds = config.BACKGROUND_STATEMENT_TIMEOUT_SECONDS;
}

/**
 * Parses a `timestamptz` as PostgreSQL writes it in UTC, `2026-11-24 09:53:14.123+00`, in a quarter of the time pg's parser takes;
 * others, such as `infinity` or those of a session in another zone, go to pg's.
 */
export function parseTimestamp(text: string): Date | number | null {
  const end = text.length - '+00'.length;
  if (end < 19 || end > 26 || text[4] !== '-' || !text.endsWith('+00')) return parseAnyTimestamp(text);
  const digit = (at: number) => (at < end ? text.charCodeAt(at) - 48 : 0);
  const two = (at: number) => digit(at) * 10 + digit(at + 1);
  const milliseconds = digit(20) * 100 + digit(21) * 10 + digit(22);
  const year = two(0) * 100 + two(2);
  // `Date.UTC` takes years before 100 for those of the 20th century.
  if (year < 100) return parseAnyTimestamp(text);
  return new Date(Date.UTC(year, two(5) - 1, two(8), two(11), two(14), two(17), milliseconds));
}

const parseAnyTimestamp = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (
  text: string,
) => Date | number | null;
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, parseTimestamp);

/** How much later than PostgreSQL cancels a statement its answer may arrive, in milliseconds. */
const ANSWER_MS = 5_000;

/** What the types of pg lack. A client is not ready while a statement runs. */
const internals = (client: pg.ClientBase) =>
  client as unknown as { connection: { stream: Socket }; readyForQuery: boolean };

/** Limits how long the server may be silent while a statement of the holder runs. */
const limitSilence = (client: pg.ClientBase) =>
  internals(client).connection.stream.setTimeout(statementTimeoutSeconds * 1000 + ANSWER_MS);

/**
 * Closes a connection whose server is silent beyond that: it is frozen or cut off, or it would have canceled the statement. pg's
 * `query_timeout` would leave the statement running on the connection.
 */
function closeWhenSilent(client: pg.ClientBase): void {
  const { stream } = internals(client).connection;
  stream.on('timeout', () => {
    const { bytesRead } = stream;
    // If it was this process that stood still, the answer is read first.
    setImmediate(() => {
      if (internals(client).readyForQuery || stream.bytesRead !== bytesRead) return;
      stream.destroy(
        new Error('Connection terminated: PostgreSQL did not respond to a statement, nor cancel it in time'),
      );
    });
  });
  limitSilence(client);
}

/** Lets the statements of a transaction take any time, in PostgreSQL and here. */
export async function liftStatementTimeout(client: pg.PoolClient): Promise<void> {
  await client.query('SET LOCAL statement_timeout = 0');
  internals(client).connection.stream.setTimeout(0);
}

const pools: pg.Pool[] = [];

/**
 * A pool of connections to the database with these settings and the statement timeout, which also cancels statements whose caller
 * has gone. They are set once per connection or, behind a pooler that gives each transaction another one, per transaction.
 */
export function createPool(max: number, settings: ConnectionSettings): pg.Pool {
  const all = () => ({ ...settings, statement_timeout: Math.round(statementTimeoutSeconds * 1000) });
  const pool = new pg.Pool({
    ...(config.DATABASE_URL === undefined ? {} : { connectionString: config.DATABASE_URL }),
    application_name: applicationName(),
    max,
    types,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    onConnect: async (client) => {
      closeWhenSilent(client);
      if (config.behindPooler) inTransactionsOnly(client, all());
      else await client.query(assignments('SET', all()));
    },
  });
  // The pool replaces an idle connection that the server closed. Without a handler the event would end the process.
  pool.on('error', (error) => logger.warn({ err: error }, 'idle database connection lost'));
  // pg also emits an error event on the connection, which the pool handles only while it is idle. The holder learns of the loss
  // from its failing statement.
  pool.on('connect', (client) => void client.on('error', () => {}));
  // The previous holder may have lifted it.
  pool.on('acquire', limitSilence);
  pools.push(pool);
  return pool;
}

/** Closes the connections of every pool. */
export async function closePools(): Promise<void> {
  await Promise.all(pools.filter(({ ended, ending }) => !ended && !ending).map((pool) => pool.end()));
}
