import { expect, test } from 'vitest';
import { temporalLog } from '../src/temporal-log.ts';

const retry = {
  level: 'ERROR',
  message: 'gRPC call poll_activity_task_queue retried 16 times',
  meta: { sdkComponent: 'core', target: 'temporalio_client::retry', error: 'Status { code: Unavailable }' },
} as const;

test('while Temporal is down, one retry in half a minute is a warning, whichever request it is of', () => {
  let now = 1_000;
  const lineOf = temporalLog(() => now);
  const levels = Array.from({ length: 600 }, () => {
    now += 100;
    return lineOf(retry).level;
  });
  expect(levels.filter((level) => level === 'warn')).toHaveLength(2);
  expect(levels.filter((level) => level === 'debug')).toHaveLength(598);
});

test('other entries keep their level, and their ids and errors are where ours are', () => {
  const lineOf = temporalLog(() => 0);
  const { level, fields } = lineOf({
    level: 'ERROR',
    message: 'Worker failed',
    meta: { error: 'Namespace lost', workflowId: 'cmp_1', taskQueue: 'postroom' },
  });
  expect(level).toBe('error');
  expect(fields).toEqual({ err: 'Namespace lost', workflowId: 'cmp_1', temporal: { taskQueue: 'postroom' } });
  const activitiesOnly = 'No workflows registered, not polling for workflow tasks';
  expect(lineOf({ level: 'WARN', message: activitiesOnly, meta: {} }).level).toBe('debug');
});
