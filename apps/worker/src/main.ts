import './settings.ts';
import { runService, useBackgroundTimeouts } from '@postroom/platform';
import { waitForSchema } from '@postroom/migrations/schema-version';
import { measureQueues } from '@postroom/platform/metrics';
import { loadParts } from '@postroom/registry';
import { startWorker } from './worker.ts';

useBackgroundTimeouts();
await runService('worker', async () => {
  await waitForSchema();
  const worker = await startWorker();
  measureQueues([...(await loadParts('metrics')).flatMap(({ queues }) => queues), worker.schedules]);
  return worker;
});
