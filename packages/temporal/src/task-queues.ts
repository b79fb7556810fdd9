import { config } from '@postroom/settings/config';

/**
 * Kinds of work whose activities have their own task queue, for which workers reserve slots, so that none waits
 * for another. Workflows share the configured queue, as they only decide and never block. `activitiesOn` in the workflows
 * names the queues the same way.
 */
export const WORK_KINDS = ['mail', 'campaigns', 'imports', 'maintenance'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** The task queue of a kind's activities, named after the configured queue. */
export const taskQueueOf = (kind: WorkKind): string => `${config.TEMPORAL_TASK_QUEUE}-${kind}`;

/**
 * The task queue of webhook deliveries: of their activities and of their workflows, too. On one queue Temporal hands the first
 * attempt to the worker that scheduled it, which saves a quarter of its work for a delivery. On a separate queue, thousands
 * of deliveries, or attempts that hang, delay no other workflow.
 */
export const webhooksQueue = (): string => `${config.TEMPORAL_TASK_QUEUE}-webhooks`;

/** What a worker can be restricted to (`WORKER_ROLES`). */
export type WorkerRole = (typeof config.WORKER_ROLES)[number];

/** The role whose workers run a kind of work. */
export const ROLE_OF: Record<WorkKind, WorkerRole> = {
  mail: 'mail',
  campaigns: 'campaigns',
  imports: 'maintenance',
  maintenance: 'maintenance',
};
