import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const root = import.meta.dirname;

export default defineConfig({
  resolve: {
    // Two copies of it, one per module format, refuse each other's types.
    alias: [{ find: /^graphql$/, replacement: join(root, 'node_modules/graphql/index.js') }],
  },
  test: {
    include: [
      '{apps,modules,packages,sdk}/*/test/**/*.test.ts',
      'workflows/test/**/*.test.ts',
      'scripts/**/*.test.{mjs,ts}',
    ],
    globalSetup: [join(root, 'packages/testkit/src/global-setup.ts')],
    // Each process loads our modules, the gateway and the worker once and runs many files.
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
