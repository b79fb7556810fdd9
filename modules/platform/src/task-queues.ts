import { config } from './config.ts';

/** Kinds of work that never wait for each other: each has a task queue, and workers have slots for each. */
export const WORK_KINDS = ['general', 'mail', 'campaigns', 'webhooks', 'imports'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** By workflow type. What is not named is `general`: it is seldom, and nobody waits for it. */
const KIND_BY_WORKFLOW: Readonly<Record<string, WorkKind>> = {
  sendEmails: 'mail',
  sendBurst: 'mail',
  sendCampaign: 'campaigns',
  scheduleCampaign: 'campaigns',
  deliverWebhook: 'webhooks',
  deliverBatch: 'webhooks',
  importContacts: 'imports',
};

/** The task queue of a kind of work. That of `general` has the name in the settings, and those of the others begin with it. */
export function taskQueueOf(kind: WorkKind): string {
  return kind === 'general' ? config.TEMPORAL_TASK_QUEUE : `${config.TEMPORAL_TASK_QUEUE}-${kind}`;
}

/** The task queue that workflows of a type are started in. Their activities run in the same one. */
export const taskQueueOfWorkflow = (type: string): string => taskQueueOf(KIND_BY_WORKFLOW[type] ?? 'general');
