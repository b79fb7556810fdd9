import { config } from './config.ts';

/** Kinds of work that never wait for each other. Each has its own task queue, and workers reserve slots for each. */
export const WORK_KINDS = ['general', 'mail', 'campaigns', 'webhooks', 'imports'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** Task queue by workflow type. Unlisted types are `general`: rare, and nobody waits for them. */
const KIND_BY_WORKFLOW: Readonly<Record<string, WorkKind>> = {
  sendEmails: 'mail',
  sendBurst: 'mail',
  sendCampaign: 'campaigns',
  scheduleCampaign: 'campaigns',
  deliverWebhook: 'webhooks',
  deliverBatch: 'webhooks',
  importContacts: 'imports',
};

/** The task queue of a kind of work. `general` uses the configured name, the others use it as a prefix. */
export function taskQueueOf(kind: WorkKind): string {
  return kind === 'general' ? config.TEMPORAL_TASK_QUEUE : `${config.TEMPORAL_TASK_QUEUE}-${kind}`;
}

/** The task queue of a workflow type and its activities. */
export const taskQueueOfWorkflow = (type: string): string => taskQueueOf(KIND_BY_WORKFLOW[type] ?? 'general');
