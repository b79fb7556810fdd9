import { source as campaignSource } from '@postroom/campaigns/relay';
import { source as domainSource } from '@postroom/domains/relay';
import { source as emailSource } from '@postroom/emails/relay';
import { config, logger, type Service } from '@postroom/platform';
import { outboxSource, startRelay } from '@postroom/platform/relay';
import { source as deliverySource } from '@postroom/webhooks/relay';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { activities } from './activities.ts';
import { workflowBundle } from './bundle.ts';
import { ensureSchedules, runSchedules } from './schedules.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { connectTemporal } from './temporal.ts';

/**
 * Runs the workflows and activities of one task queue, and the relay that starts them from the tables. What runs by the clock
 * runs now as well, unless told not to: tests share a database in which others have old rows.
 */
export async function startWorker({ runsSchedules = true } = {}): Promise<Service> {
  Runtime.install({ logger: temporalLogger(), shutdownSignals: [] });
  const starting = new AbortController();
  const { client, native, close } = await connectTemporal(starting.signal);
  await ensureSearchAttributes(client);
  const worker = await Worker.create({
    connection: native,
    namespace: client.options.namespace,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    workflowBundle: await workflowBundle(),
    activities,
    // A POST or a mail in hand may take ten seconds; then it is cut off and its row tells how far it came.
    shutdownGraceTime: '15 seconds',
    shutdownForceTime: '20 seconds',
    maxCachedWorkflows: 500,
  });
  const running = worker.run().catch((error: unknown) => {
    logger.fatal({ err: error }, 'the Temporal worker failed');
    process.exit(1);
  });
  await ensureSchedules(client);
  if (runsSchedules) await runSchedules(client);
  const relay = await startRelay(client, [outboxSource, emailSource, deliverySource, domainSource, campaignSource]);
  return {
    stop: async () => {
      await relay.stop();
      worker.shutdown();
      await running;
      await close();
    },
  };
}

function temporalLogger(): DefaultLogger {
  return new DefaultLogger('INFO', ({ level, message, meta }) => {
    const write = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
    const { error, ...temporal } = meta ?? {};
    logger[write[level]]({ ...(error === undefined ? {} : { err: error }), temporal }, message);
  });
}
