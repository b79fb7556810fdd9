import { expect, test } from 'vitest';
import { config } from '../src/config.ts';
import { taskQueueOf, taskQueueOfWorkflow, WORK_KINDS } from '../src/task-queues.ts';

test('mail, campaigns, webhooks and imports never wait for each other: each kind has a task queue of its own', () => {
  const base = config.TEMPORAL_TASK_QUEUE;
  const queues = Object.fromEntries(
    [
      'sendEmails',
      'sendBurst',
      'sendCampaign',
      'scheduleCampaign',
      'deliverWebhook',
      'deliverBatch',
      'importContacts',
    ].map((type) => [type, taskQueueOfWorkflow(type)]),
  );
  expect(queues).toEqual({
    sendEmails: `${base}-mail`,
    sendBurst: `${base}-mail`,
    sendCampaign: `${base}-campaigns`,
    scheduleCampaign: `${base}-campaigns`,
    deliverWebhook: `${base}-webhooks`,
    deliverBatch: `${base}-webhooks`,
    importContacts: `${base}-imports`,
  });
  // What was begun before there were several goes on where it was.
  expect(taskQueueOfWorkflow('verifyDomain')).toBe(base);
  expect(new Set(WORK_KINDS.map(taskQueueOf)).size).toBe(WORK_KINDS.length);
});
