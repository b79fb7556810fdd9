import { config, sessionSettings, ignoreConnectionErrors } from '@postroom/platform';
import pg from 'pg';

/**
 * Connections whose plans go by index, row by row. A campaign puts a million rows into the ledger in one statement; until
 * PostgreSQL has counted them it takes the table for small, and would read and sort all of it for each page.
 */
export const ledgerPool = new pg.Pool({
  ...(config.DATABASE_URL === undefined ? {} : { connectionString: config.DATABASE_URL }),
  options: ['bitmapscan', 'seqscan', 'hashjoin', 'mergejoin'].map((plan) => `-c enable_${plan}=off`).join(' '),
  max: 6,
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
  allowExitOnIdle: true,
  onConnect: async (client) => void (await client.query(sessionSettings())),
});
// An idle connection that the server closes is replaced at the next use.
ledgerPool.on('error', () => {});
ignoreConnectionErrors(ledgerPool);
