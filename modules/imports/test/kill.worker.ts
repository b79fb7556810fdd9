// A worker and an outbox dispatcher for imports only, as a separate program that a test can kill (see kill.system.test.ts).
import { config, taskQueueOf } from '@postroom/platform';
import { outboxSource, startDispatcher } from '@postroom/platform/dispatcher';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import * as activities from '../src/activities.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });
const { TEMPORAL_ADDRESS: address } = config;
const connection = await NativeConnection.connect({ address });
const workers = await Promise.all([
  Worker.create({
    connection,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    workflowBundle: { codePath: process.env.WORKFLOW_BUNDLE ?? '' },
  }),
  Worker.create({ connection, taskQueue: taskQueueOf('imports'), activities }),
]);
const client = new Client({ connection: await Connection.connect({ address }) });
process.on('disconnect', () => process.exit(1)); // Exit with the test.
/**
 * Peak memory usage after garbage collection, in MB, since the last message; uncollected garbage depends on the
 * machine.
 */
let most = 0;
const look = () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  most = Math.max(most, Math.round((heapUsed + external) / 2 ** 20));
};
if (process.env.MEASURES_MEMORY === 'yes') setInterval(look, 200); // costs more than an import
process.on('message', () => {
  look();
  process.send?.(most);
  most = 0;
});
await Promise.all([...workers.map((worker) => worker.run()), startDispatcher(client, [outboxSource])]);
