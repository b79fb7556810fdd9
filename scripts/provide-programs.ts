// Runs in each test process before its tests are loaded: chooses their database, and hands testkit the gateway and the worker, which are
// loaded when the first test needs them.
import { providePrograms } from '@postroom/testkit/programs';

providePrograms({
  startGateway: async (options) => (await import('@postroom/gateway')).startGateway(options),
  startWorker: async (options) => (await import('@postroom/worker')).startWorker(options),
  workflowBundle: async () => (await import('@postroom/worker/bundle')).workflowBundle(),
});

const { DATABASE_URL, TEST_DATABASE } = process.env;
if (TEST_DATABASE !== undefined && DATABASE_URL !== undefined)
  process.env.DATABASE_URL = Object.assign(new URL(DATABASE_URL), { pathname: `/${TEST_DATABASE}` }).href;
