// A worker and delivery dispatcher in its own process that a test can kill (see faults.system.test.ts).
import { config, webhooksQueue } from '@postroom/platform';
import { startEagerly, startDispatcher } from '@postroom/platform/dispatcher';
import { sweepSource } from '@postroom/platform/durable-work';
import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import * as activities from '../src/activities.ts';
import { source } from '../src/dispatcher.ts';
import { work } from '../src/durable-work.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });
const { TEMPORAL_ADDRESS: address } = config;
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue: webhooksQueue(),
  workflowBundle: { codePath: process.env.WORKFLOW_BUNDLE ?? '' },
  activities,
});
const client = new Client({ connection, interceptors: { workflow: [startEagerly] } });
process.on('disconnect', () => process.exit(1)); // it does not outlive its test
await Promise.all([worker.run(), startDispatcher(client, [source, sweepSource(work, [])])]);
