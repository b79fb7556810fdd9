import type { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { config } from '@postroom/settings/config';
import { assignments, type ConnectionSettings, KEEP_ALIVE_MS } from './connection-settings.ts';
import { parseUtc } from '@postroom/clock';
import { logger } from '@postroom/observability';
import { applicationName } from '@postroom/settings';
import { inTransactionsOnly } from './transaction-mode.ts';

let statementTimeoutSeconds = config.STATEMENT_TIMEOUT_SECONDS;

/** Switches this process to the background statement timeout; call before its first statement. */
export function useBackgroundTimeouts(): void {
  statementTimeoutSeconds = config.BACKGROUND_STATEMENT_TIMEOUT_SECONDS;
}

const parseAnyTimestamp = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (
  text: string,
) => Date | number | null;
/** Parses a `timestamptz`. Most are in UTC, and pg's parser takes four times as long. */
export const parseTimestamp = (text: string): Date | number | null => parseUtc(text) ?? parseAnyTimestamp(text);
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, parseTimestamp);

/** How much later than PostgreSQL cancels a statement its answer may arrive, in milliseconds. */
const ANSWER_MS = 5_000;

/** What the types of pg lack. A client is not ready while a statement runs. */
const internals = (client: pg.ClientBase) =>
  client as unknown as { connection: { stream: Socket }; readyForQuery: boolean };

/** How long the server may be silent before it is asked about a statement that may take longer, and to answer that, in milliseconds. */
const SILENCE_MS = 15_000;
/** How long the server may be silent while a statement of the holder runs, in milliseconds. */
const limits = new WeakMap<pg.ClientBase, number>();

function limitSilence(client: pg.ClientBase, limitMs = statementTimeoutSeconds * 1000 + ANSWER_MS): void {
  limits.set(client, limitMs);
  internals(client).connection.stream.setTimeout(limitMs > 2 * SILENCE_MS ? SILENCE_MS : limitMs);
}

/**
 * Closes a connection whose server is silent beyond that: it is frozen or cut off, or it would have canceled the statement. pg's
 * `query_timeout` would leave the statement running on the connection.
 */
function closeWhenSilent(client: pg.ClientBase, pidOf: () => number | undefined): void {
  const { stream } = internals(client).connection;
  let silence = { bytesRead: -1, ms: 0 };
  const check = async (bytesRead: number) => {
    // If it was this process that stood still, the answer is read first.
    await setImmediate();
    const isAnswered = () => internals(client).readyForQuery || stream.bytesRead !== bytesRead;
    if (isAnswered()) return void (silence = { bytesRead: -1, ms: 0 });
    silence = { bytesRead, ms: (stream.timeout ?? 0) + (silence.bytesRead === bytesRead ? silence.ms : 0) };
    if (silence.ms < (limits.get(client) ?? 0)) {
      stream.setTimeout(SILENCE_MS);
      const running = await (asking ??= findRunning().finally(() => (asking = undefined)));
      const pid = pidOf();
      const isLost = running === 'silent' || (pid !== undefined && running?.includes(pid) === false);
      if (!isLost || isAnswered()) return;
    }
    stream.destroy(
      new Error('Connection terminated: PostgreSQL did not respond to a statement, nor cancel it in time'),
    );
  };
  stream.on('timeout', () => void check(stream.bytesRead));
  limitSilence(client);
}

let asking: ReturnType<typeof findRunning> | undefined;

/**
 * Asks for the backends that run a statement, over a new connection.
 * @returns `silent` if the server answers nobody, and undefined if it gives another answer, such as that it has too many connections.
 */
async function findRunning(): Promise<number[] | 'silent' | undefined> {
  const client = new pg.Client({
    connectionString: config.directDatabaseUrl ?? '',
    application_name: applicationName(),
  });
  client.on('error', () => {});
  const running = client
    .connect()
    .then(() => client.query<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE state NOT LIKE 'idle%'"))
    .then(({ rows }) => rows.map(({ pid }) => pid))
    .catch(() => undefined);
  const found = await Promise.race([running, sleep(SILENCE_MS, 'silent' as const, { ref: false })]);
  if (found === 'silent') internals(client).connection.stream.destroy();
  else void client.end().catch(() => {});
  return found;
}

/** Lets the statements of a transaction take any time, in PostgreSQL and here. */
export async function liftStatementTimeout(client: pg.PoolClient): Promise<void> {
  await client.query('SET LOCAL statement_timeout = 0');
  limitSilence(client, Infinity);
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
      let pid: number | undefined;
      closeWhenSilent(client, () => pid);
      if (config.behindPooler) return inTransactionsOnly(client, all());
      // pg gives the results of several statements as an array.
      const results = await client.query(`${assignments('SET', all())}; SELECT pg_backend_pid() AS pid`);
      pid = (results as unknown as pg.QueryResult<{ pid: number }>[]).at(-1)?.rows[0]?.pid;
    },
  });
  // The pool replaces an idle connection that the server closed. Without a handler the event would end the process.
  pool.on('error', (error) => logger.warn({ err: error }, 'idle database connection lost'));
  // pg also emits an error event on the connection, which the pool handles only while it is idle. The holder learns of the loss
  // from its failing statement.
  pool.on('connect', (client) => void client.on('error', () => {}));
  // The previous holder may have lifted it.
  pool.on('acquire', (client) => limitSilence(client));
  pools.push(pool);
  return pool;
}

/** Closes the connections of every pool. */
export async function closePools(): Promise<void> {
  await Promise.all(pools.filter(({ ended, ending }) => !ended && !ending).map((pool) => pool.end()));
}
