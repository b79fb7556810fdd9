import { expect, test } from 'vitest';
import { config } from '@postroom/settings/config';
import { taskQueueOf, WORK_KINDS } from '../src/task-queues.ts';

test('mail, campaigns, imports and maintenance never wait for each other: each has its own task queue', () => {
  const base = config.TEMPORAL_TASK_QUEUE;
  expect(WORK_KINDS.map(taskQueueOf)).toEqual([
    `${base}-mail`,
    `${base}-campaigns`,
    `${base}-imports`,
    `${base}-maintenance`,
  ]);
});
