// Runs in each test process: hands testkit the gateway and the worker, which are loaded when the first test needs them.
import { providePrograms } from '@postroom/testkit/programs';

providePrograms({
  startGateway: async (options) => (await import('@postroom/gateway')).startGateway(options),
  startWorker: async (options) => (await import('@postroom/worker')).startWorker(options),
  workflowBundle: async () => (await import('@postroom/worker/bundle')).workflowBundle(),
});
