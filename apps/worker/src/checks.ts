import { ledgerPool } from '@postroom/ledger';
import { type HealthCheck, SEARCH_ATTRIBUTES } from '@postroom/platform';
import { checkDefaultTransport } from '@postroom/transports';
import type { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Worker } from '@temporalio/worker';
import { missingSearchAttributes } from './search-attributes.ts';

const { TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

/** What a worker needs besides the database. */
export function workerChecks(client: Client, workers: readonly Worker[]): HealthCheck[] {
  return [
    { name: 'ledgerPool', check: () => ledgerPool.query('SELECT 1') },
    { name: 'pollers', check: () => checkPollers(client, workers), cacheMs: 5_000 },
    { name: 'searchAttributes', check: () => checkSearchAttributes(client), cacheMs: 60_000 },
    // A connection per probe would look like abuse to a mail server.
    { name: 'mailTransport', check: checkDefaultTransport, cacheMs: 60_000 },
  ];
}

/** Temporal has seen each of this process's workers poll its task queue within the last minutes. */
async function checkPollers({ connection, options }: Client, workers: readonly Worker[]): Promise<void> {
  const { workflowService } = connection as Connection;
  await Promise.all(
    workers.map(async (worker) => {
      const { taskQueue, identity, workflowBundle } = worker.options;
      if (worker.getState() !== 'RUNNING') throw new Error(`The worker of ${taskQueue} is ${worker.getState()}.`);
      const { pollers } = await workflowService.describeTaskQueue({
        namespace: options.namespace,
        taskQueue: { name: taskQueue },
        taskQueueType: workflowBundle === undefined ? TASK_QUEUE_TYPE_ACTIVITY : TASK_QUEUE_TYPE_WORKFLOW,
      });
      if (!(pollers ?? []).some((poller) => poller.identity === identity))
        throw new Error(`Temporal has not seen this worker poll ${taskQueue} yet.`);
    }),
  );
}

async function checkSearchAttributes(client: Client): Promise<void> {
  const missing = await missingSearchAttributes(client);
  if (missing.length > 0)
    throw new Error(
      `The Temporal namespace lacks ${missing.length} of ${SEARCH_ATTRIBUTES.length}: ${missing.join(', ')}.`,
    );
}
