import { globSync, readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { COMPILED } from './packages/embedded/src/programs.ts';
import { NODE_FLAGS } from './packages/testkit/src/node-flags.ts';
import { WORKER_DATABASE } from './packages/testkit/src/worker-database.ts';

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

/**
 * Integration tests whose process runs the worker, which goes on until the tier ends. They have their own database: in that of the others
 * it would send the campaigns and retry the deliveries that thousands of tests leave behind.
 */
const WITH_WORKER = globSync(INTEGRATION, { cwd: root, exclude: ['**/node_modules/**'] }).filter((file) =>
  readFileSync(join(root, file), 'utf8').includes('startTestWorker'),
);

/** For the tiers that stand on PostgreSQL and Temporal. */
const withServices = {
  // The machine is always busy, projects of other tests make requests, and bulk work would wait for quiet.
  env: { BULK_PAUSE_RATIO: '0' },
  setupFiles: [join(root, 'scripts/provide-programs.ts')],
  globalSetup: [join(root, 'packages/testkit/src/global-setup.ts')],
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
};

const TIERS = ['system', 'integration', 'integration-with-worker', 'unit'];

/** Files that take a minute or more, the longest first. */
const LONG = [
  'apps/worker/test/restore',
  'scripts/postgres-versions',
  'apps/worker/test/cells',
  'apps/gateway/test/graphql-isolation',
  'scripts/chaos/chaos',
  'modules/emails/test/faults',
  'modules/campaigns/test/kill',
  'apps/gateway/test/rest/names',
  'scripts/demo/demo',
  'modules/imports/test/kill',
  'modules/campaigns/test/faults',
  'apps/dashboard/test/shell',
  'apps/dashboard/test/journeys.system',
  'apps/dashboard/test/marketing-pages',
  'apps/dashboard/test/pages',
  'scripts/add-a-feature',
  'apps/dashboard/test/campaigns.',
  'modules/campaigns/test/costly-content',
  'apps/gateway/test/openapi/answers',
  'modules/webhooks/test/faults',
  'apps/launcher/test/launcher',
  'apps/dashboard/test/audience',
  'apps/dashboard/test/preparation',
  'apps/worker/test/durable-work.system',
  'modules/platform/test/shared-limits',
  'scripts/doctor/temporal-security',
  'scripts/complexity/parsers',
  'apps/dashboard/test/webhooks',
  'apps/dashboard/test/sign-in',
  'modules/emails/test/queue-drains',
  'modules/webhooks/test/retention',
  'apps/worker/test/schedules',
  'modules/journeys/test/kill',
  'apps/dashboard/test/campaign-people',
  'apps/worker/test/rolling',
  'modules/campaigns/test/sending',
  'apps/gateway/test/rotate-encryption-key',
  'apps/gateway/test/openapi/generators',
  'apps/gateway/test/openapi/fuzz',
];

/** The system of `mailSystem` goes on until the end of the process, which is no earlier than that of the tier. */
const usesMailSystem = (file: string) => readFileSync(file, 'utf8').includes('mailSystem(');

/**
 * Tier by tier, because a process runs files of one tier only: it ends when the next file is another's. Within each, long files come first,
 * so that no process is still busy with one when the others have nothing left to do.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const place = LONG.findIndex((name) => moduleId.includes(name));
      const tier = TIERS.indexOf(project.name) * 2 + (usesMailSystem(moduleId) ? 1 : 0);
      return tier * 1000 + (place === -1 ? LONG.length : place);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

// Test processes and the programs that tests start get it from here. A program starts in half the time with it.
process.env.NODE_COMPILE_CACHE ??= COMPILED.NODE_COMPILE_CACHE;

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
    execArgv: NODE_FLAGS,
    testTimeout: 30_000,
    // Tests wait for other programs half of the time, so there are more processes than cores.
    maxWorkers: Math.max(1, Math.min(availableParallelism() * 2, Math.floor(totalmem() / WORKER_MEMORY))),
    sequence: { sequencer: LongestFirst },
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
            POSTROOM_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
            LOG_LEVEL: 'error',
          },
        },
      },
      { test: { name: 'integration', include: INTEGRATION, exclude: WITH_WORKER, ...withServices } },
      {
        test: {
          name: 'integration-with-worker',
          include: WITH_WORKER,
          ...withServices,
          env: { ...withServices.env, TEST_DATABASE: WORKER_DATABASE, TEMPORAL_TASK_QUEUE: WORKER_DATABASE },
        },
      },
      { test: { name: 'system', include: SYSTEM, ...withServices } },
    ],
  },
});
