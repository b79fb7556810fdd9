import { config, createPool } from '@postroom/platform';
import { measurePool } from '@postroom/platform/metrics';

/**
 * Connections that force index plans. A campaign inserts a million rows in one statement, and until PostgreSQL has analyzed
 * the table it takes it for small and would scan and sort all of it for each page.
 */
export const ledgerPool = createPool(config.databasePools.ledger, {
  enable_bitmapscan: 'off',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
});
measurePool('ledger', ledgerPool);
