import { config, createPool } from '@postroom/platform';
import { measurePool } from '@postroom/platform/metrics';

/**
 * Connections that force index plans. A campaign inserts a million rows in one statement, and until PostgreSQL has analyzed
 * the table it takes it for small and would scan and sort all of it for each page. Plans are for any values of the parameters, and kept:
 * planning for all partitions takes longer than running.
 */
export const ledgerPool = createPool(config.databasePools.ledger, {
  enable_bitmapscan: 'off',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
});
measurePool('ledger', ledgerPool);
