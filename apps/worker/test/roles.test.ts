import { config } from '@postroom/platform';
import { expect, test } from 'vitest';
import { workersOf } from '../src/worker.ts';

const queuesOf = (roles: Parameters<typeof workersOf>[0]) =>
  workersOf(roles, { codePath: '' }).map(({ taskQueue }) => taskQueue.replace(config.TEMPORAL_TASK_QUEUE, ''));

test('campaigns, mail, webhooks and maintenance each have their own task queues, selected by the role of a worker', () => {
  expect(queuesOf(['mail'])).toEqual(['', '-mail']);
  expect(queuesOf(['campaigns'])).toEqual(['', '-campaigns']);
  expect(queuesOf(['webhooks'])).toEqual(['-webhooks']);
  expect(queuesOf(['maintenance'])).toEqual(['', '-imports', '-maintenance']);
  expect(queuesOf(config.WORKER_ROLES)).toEqual(['', '-webhooks', '-mail', '-campaigns', '-imports', '-maintenance']);
});
