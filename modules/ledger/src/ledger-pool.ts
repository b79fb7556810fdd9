import { applicationName, config, sessionSettings, ignoreConnectionErrors } from '@postroom/platform';
import pg from 'pg';

/**
 * Connections that force index plans. A campaign inserts a million rows in one statement, and until PostgreSQL has analyzed
 * the table it takes it for small and would scan and sort all of it for each page.
 */
export const ledgerPool = new pg.Pool({
  ...(config.DATABASE_URL === undefined ? {} : { connectionString: config.DATABASE_URL }),
  options: ['bitmapscan', 'seqscan', 'hashjoin', 'mergejoin'].map((plan) => `-c enable_${plan}=off`).join(' '),
  application_name: applicationName(),
  max: 6,
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
  allowExitOnIdle: true,
  onConnect: async (client) => void (await client.query(sessionSettings())),
});
// The pool replaces an idle connection that the server closes.
ledgerPool.on('error', () => {});
ignoreConnectionErrors(ledgerPool);
