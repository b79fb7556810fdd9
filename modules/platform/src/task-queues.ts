import { config } from './config.ts';

/**
 * Kinds of work whose activities have their own task queue, for which workers reserve slots, so that none waits
 * for another. Workflows share the configured queue, as they only decide and never block. Webhook deliveries run on it
 * too: there Temporal hands the first attempt to the worker that scheduled it, which saves a quarter of Temporal's work
 * for a delivery. `activitiesOn` in the workflows names the queues the same way.
 */
export const WORK_KINDS = ['mail', 'campaigns', 'imports', 'maintenance'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** The task queue of a kind's activities, named after the configured queue. */
export const taskQueueOf = (kind: WorkKind): string => `${config.TEMPORAL_TASK_QUEUE}-${kind}`;
