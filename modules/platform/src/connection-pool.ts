import pg from 'pg';
import { config } from '@postroom/settings/config';
import { assignments, type ConnectionSettings } from './connection-settings.ts';
import { logger } from '@postroom/observability';
import { applicationName } from '@postroom/settings';
import { inTransactionsOnly } from './transaction-mode.ts';

let statementTimeoutSeconds = config.STATEMENT_TIMEOUT_SECONDS;

/** Switches this process to the background statement timeout; call before its first statement. */
export function useBackgroundTimeouts(): void {
  statementTimeoutSeconds = config.BACKGROUND_STATEMENT_TIMEOUT_SECONDS;
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
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    onConnect: async (client) => {
      if (config.behindPooler) inTransactionsOnly(client, all());
      else await client.query(assignments('SET', all()));
    },
  });
  // The pool replaces an idle connection that the server closed. Without a handler the event would end the process.
  pool.on('error', (error) => logger.warn({ err: error }, 'idle database connection lost'));
  // pg also emits an error event on the connection, which the pool handles only while it is idle. The holder learns of the loss
  // from its failing statement.
  pool.on('connect', (client) => void client.on('error', () => {}));
  pools.push(pool);
  return pool;
}

/** Closes the connections of every pool. */
export async function closePools(): Promise<void> {
  await Promise.all(pools.filter(({ ended, ending }) => !ended && !ending).map((pool) => pool.end()));
}
