import {
  config,
  endLeases,
  identity,
  logger,
  ROLE_OF,
  type Service,
  sleep,
  taskQueueOf,
  WORK_KINDS,
  type WorkerRole,
  type WorkKind,
  webhooksQueue,
} from '@postroom/platform';
import { closeInFlightJournals, findSuccessor, openInFlightJournals, recoverFromJournals } from '@postroom/ledger';
import { type DispatchSource, outboxSource, startDispatcher } from '@postroom/platform/dispatcher';
import { sweepSource } from '@postroom/platform/durable-work';
import type { Queue } from '@postroom/platform/metrics';
import { loadParts } from '@postroom/registry';
import type { Client } from '@temporalio/client';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { loadActivities } from './activities.ts';
import { workflowBundle } from './bundle.ts';
import { workerChecks } from './checks.ts';
import { inLogContext } from './log-context.ts';
import { inTrace } from './trace-context.ts';
import { installRuntime } from './runtime.ts';
import { countOverdueSchedules, ensureSchedules, restoreSchedules, runSchedules } from './schedules.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { fenceSuperseded } from './superseded.ts';
import { connectTemporal } from './temporal.ts';
import { useWitnesses } from './witnesses.ts';

/**
 * Activity slots per kind of work. Imports and campaigns are limited per project (see their activities); rejected
 * tasks free their slot at once, so there are more slots than concurrent work. Low-volume kinds need few pollers.
 */
const CAPACITY: Record<WorkKind, Partial<WorkerOptions>> = {
  mail: { maxConcurrentActivityTaskExecutions: config.WORKER_MAIL_SLOTS },
  campaigns: {
    maxConcurrentActivityTaskExecutions: 4 * config.WORKER_CAMPAIGN_SLOTS,
    maxConcurrentActivityTaskPolls: 2,
    // By default heartbeats are delayed to four fifths of their timeout, so that one late heartbeat would end an attempt.
    maxHeartbeatThrottleInterval: '1 second',
  },
  imports: {
    maxConcurrentActivityTaskExecutions: 10 * config.WORKER_IMPORT_SLOTS,
    maxConcurrentActivityTaskPolls: 2,
  },
  maintenance: { maxConcurrentActivityTaskExecutions: 50, maxConcurrentActivityTaskPolls: 2 },
};

/** How often the workers' state is read, in milliseconds. */
const STATE_INTERVAL_MS = 1_000;
/** By then a POST or mail in flight has ended, in milliseconds. */
const ACTIVITIES_END_MS = 20_000;

/** How often a worker looks whether its database is held because another one has taken over, in milliseconds. */
const SUCCESSOR_INTERVAL_MS = 5_000;

/** How long the first dispatch waits for the schedules, in milliseconds: they warm up Temporal and its SDK for the first mail. */
const WARM_UP_MS = 2_000;

export interface WorkerService extends Service {
  /** Temporal's schedules, for metrics. */
  schedules: Queue;
}

/**
 * Runs all workflows and activities, and the dispatcher that starts them. Also triggers the schedules once, unless
 * told not to: tests share a database with other tests' old rows.
 */
export async function startWorker({ runsSchedules = true } = {}): Promise<WorkerService> {
  const activities = await loadActivities();
  const sources = (await loadParts('dispatcher')).map(({ source }) => source);
  const kinds = (await loadParts('durable-work')).flatMap(({ work }) => work);
  const { readMetrics } = await installRuntime();
  const starting = new AbortController();
  const { client, native, dataConverter, close } = await connectTemporal(starting.signal);
  await ensureSearchAttributes(client);
  useWitnesses(client);
  const successor = await watchForSuccessor();
  await useInFlightJournals();
  const common = {
    connection: native,
    dataConverter,
    namespace: client.options.namespace,
    activities,
    interceptors: { activity: [inLogContext, inTrace] },
    // A POST or mail in flight may take ten seconds; then it is aborted, and its row records how far it got.
    shutdownGraceTime: '15 seconds',
    shutdownForceTime: ACTIVITIES_END_MS,
    ...deployment(),
  };
  const workers = await Promise.all(
    workersOf(config.WORKER_ROLES, await workflowBundle()).map((options) => Worker.create({ ...common, ...options })),
  );
  const { failed, shutdown } = runWorkers(workers);
  // Without its schedules, the worker still sends mail; the sweep tries again. On a new Temporal, describing one can take half a minute.
  const schedules = prepareSchedules(client, { runsSchedules }).catch((error: unknown) =>
    logger.warn({ err: error }, 'the schedules could not be created or run; will retry'),
  );
  await Promise.race([schedules, sleep(WARM_UP_MS)]);
  const sweep = sweepSource(kinds, [ensureSearchAttributes, restoreSchedules]);
  const dispatcher = await startDispatcher(client, [outboxSource, ...sources, sweep, successor.source].filter(isOurs));
  return {
    checks: workerChecks(client, workers),
    schedules: { kind: 'temporal', read: async () => ({ overdue: await countOverdueSchedules(client) }) },
    metrics: readMetrics === undefined ? [] : [readMetrics],
    failed: Promise.race([failed, successor.found]),
    stop: async () => {
      // Before the dispatcher stops, so that this process gets none of the work that it hands back.
      const ended = shutdown();
      await Promise.all([dispatcher.stop(), ended]);
      await closeInFlightJournals();
      await endLeases();
      // A worker that failed holds on to its connection.
      if (!workers.some(hasFailed)) await close();
    },
  };
}

const hasFailed = (worker: Worker) => worker.getState() === 'FAILED';

/**
 * Runs the workers. One whose polls Temporal rejects for good, such as because the namespace has been missing for half a minute, fails, and
 * would do nothing more in a process that seems to live.
 */
function runWorkers(workers: readonly Worker[]): { failed: Promise<unknown>; shutdown: () => Promise<void> } {
  const failed = Promise.withResolvers<unknown>();
  let draining = false;
  const running = Promise.all(workers.map((worker) => worker.run())).catch((error: unknown) => {
    failed.resolve(error);
    if (!draining) return;
    logger.fatal({ err: error }, 'activities did not end in time');
    process.exit(1);
  });
  // `run` of a worker that failed may never settle.
  const watching = setInterval(() => {
    const worker = workers.find(hasFailed);
    if (worker !== undefined) failed.resolve(new Error(`The worker of ${worker.options.taskQueue} has stopped.`));
  }, STATE_INTERVAL_MS).unref();
  return {
    failed: failed.promise,
    shutdown: async () => {
      draining = !workers.some(hasFailed);
      clearInterval(watching);
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      // Nothing says when the activities of one that failed have ended.
      await (draining ? running : sleep(ACTIVITIES_END_MS));
    },
  };
}

/**
 * Looks regularly whether another database has taken over from this one, as after a failover. If so, this one is made to refuse
 * changes, which would be lost. Restarting the worker connects it to that one, if the address leads there by now.
 * @throws Error if one has.
 */
async function watchForSuccessor(): Promise<{ source: DispatchSource; found: Promise<unknown> }> {
  const found = Promise.withResolvers<unknown>();
  const check = async () => {
    const reason = await findSuccessor();
    if (reason === undefined) return undefined;
    await fenceSuperseded(reason);
    found.resolve(new Error(reason));
    return reason;
  };
  // Without an answer nothing is sent anyway, and the worker does everything else.
  const reason = await check().catch((error: unknown) =>
    logger.warn({ err: error }, 'could not compare the database with its witnesses; will retry'),
  );
  if (typeof reason === 'string') throw new Error(reason);
  return {
    source: { name: 'successor', tasks: [{ intervalMs: SUCCESSOR_INTERVAL_MS, run: check }] },
    found: found.promise,
  };
}

/** Opens the folder of journals, if there is one, and settles the messages of processes that were killed. */
async function useInFlightJournals(): Promise<void> {
  const { IN_FLIGHT_JOURNAL: folder } = config;
  if (folder === undefined) return;
  await openInFlightJournals(folder);
  // If this fails, the attempts that continue the work settle them.
  await recoverFromJournals().catch((error: unknown) =>
    logger.warn({ err: error }, 'messages of killed processes not settled; will retry'),
  );
}

/** A source that has no role is every worker's. */
const isOurs = ({ role }: DispatchSource) => role === undefined || config.WORKER_ROLES.includes(role);

/**
 * The task queues that a worker of these roles polls. Two of them have workflows, at the cost of a thread and 47 MB each: one for webhook
 * deliveries, and one for everything else, where deliveries that an older release started still run.
 */
export function workersOf(
  roles: readonly WorkerRole[],
  bundle: { codePath: string },
): (Partial<WorkerOptions> & { taskQueue: string })[] {
  const workflows = {
    workflowBundle: bundle,
    maxCachedWorkflows: 400,
    maxConcurrentActivityTaskExecutions: config.WORKER_WEBHOOK_SLOTS,
  };
  const shared = roles.some((role) => role !== 'webhooks')
    ? [{ ...workflows, taskQueue: config.TEMPORAL_TASK_QUEUE }]
    : [];
  const webhooks = roles.includes('webhooks') ? [{ ...workflows, taskQueue: webhooksQueue() }] : [];
  const kinds = WORK_KINDS.filter((kind) => roles.includes(ROLE_OF[kind]));
  return [...shared, ...webhooks, ...kinds.map((kind) => ({ ...CAPACITY[kind], taskQueue: taskQueueOf(kind) }))];
}

async function prepareSchedules(client: Client, { runsSchedules }: { runsSchedules: boolean }): Promise<void> {
  await ensureSchedules(client);
  if (runsSchedules) await runSchedules(client);
}

/**
 * With `WORKER_DEPLOYMENT`, Temporal gives tasks only to workers of the current build. Open workflows move to it with
 * their next task, since every change of a workflow is patched (docs/how-to/operations.md), so the old build can go.
 */
function deployment(): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  const { WORKER_DEPLOYMENT: deploymentName } = config;
  if (deploymentName === undefined) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId: identity.build },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}
