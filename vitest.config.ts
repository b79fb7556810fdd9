import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const root = import.meta.dirname;

/** A test process with the programs it starts: a gateway, a worker, a browser. In bytes. */
const WORKER_MEMORY = 2 * 1024 ** 3;

const testsNamed = (ending: string) => [
  `{apps,modules,packages,sdk}/*/test/**/*${ending}`,
  `workflows/test/**/*${ending}`,
  `scripts/**/*${ending}`,
];
const INTEGRATION = testsNamed('.integration.test.ts');
const SYSTEM = testsNamed('.system.test.ts');

/** For the tiers that stand on PostgreSQL and Temporal. */
const withServices = {
  globalSetup: [join(root, 'packages/testkit/src/global-setup.ts')],
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
};

// A file's name says which tier it is in; CONTRIBUTING.md has the rules, and scripts/test-tiers.test.ts checks them.
export default defineConfig({
  resolve: {
    // Two copies of it, one per module format, refuse each other's types.
    alias: [{ find: /^graphql$/, replacement: join(root, 'node_modules/graphql/index.js') }],
  },
  test: {
    // Each process loads our modules, the gateway and the worker once and runs many files.
    pool: 'forks',
    isolate: false,
    testTimeout: 30_000,
    maxWorkers: Math.max(1, Math.min(availableParallelism(), Math.floor(totalmem() / WORKER_MEMORY))),
    projects: [
      {
        test: {
          name: 'unit',
          include: testsNamed('.test.{ts,mjs}'),
          exclude: [...INTEGRATION, ...SYSTEM],
          env: {
            // Whatever needs a service fails, whatever the shell has set.
            DATABASE_URL: 'postgresql://unit-tests-have-no-database.invalid/',
            TEMPORAL_ADDRESS: 'unit-tests-have-no-temporal.invalid:7233',
            LOG_LEVEL: 'error',
          },
        },
      },
      { test: { name: 'integration', include: INTEGRATION, ...withServices } },
      { test: { name: 'system', include: SYSTEM, ...withServices } },
    ],
  },
});
