import { expect, test } from 'vitest';
import type { Claimed, ClaimedRetry } from '../src/queue.ts';
import { startsOf } from '../src/starts.ts';

const claimed = (n: number, more: Partial<Claimed> = {}): Claimed => ({
  id: `dlv_${n}`,
  project_id: 'prj_1',
  endpoint_id: 'whe_1',
  event_type: 'email.sent',
  workflow_id: 'batch_1',
  attempt_count: 0,
  traceparent: null,
  ...more,
});
const labels = (...members: Claimed[]) => startsOf(members).map(({ searchAttributes }) => searchAttributes);

test('an individual delivery is searchable by project, endpoint, type and state', () => {
  expect(labels(claimed(1, { workflow_id: 'dlv_1' }))).toEqual([
    { projectId: 'prj_1', endpointId: 'whe_1', eventType: 'email.sent', deliveryStatus: 'queued' },
  ]);
});

test('a batch is searchable by what its deliveries have in common', () => {
  expect(labels(claimed(1), claimed(2))).toEqual([{ projectId: 'prj_1', endpointId: 'whe_1' }]);
  expect(labels(claimed(1), claimed(2, { endpoint_id: 'whe_2' }))).toEqual([{ projectId: 'prj_1' }]);
  expect(labels(claimed(1), claimed(2, { endpoint_id: 'whe_2', project_id: 'prj_2' }))).toEqual([{}]);
});

test('each delivery belongs to exactly one start, under the workflow it was claimed for', () => {
  const starts = startsOf([claimed(1), claimed(2, { workflow_id: 'dlv_2' }), claimed(3)]);
  expect(starts.map(({ workflowId, deliveryIds, type }) => [workflowId, type, deliveryIds])).toEqual([
    ['batch_1', 'deliverBatch', ['dlv_1', 'dlv_3']],
    ['dlv_2', 'deliverWebhook', ['dlv_2']],
  ]);
});

test('an individual retry tells its workflow the last response; one without any attempt starts from the first', () => {
  const retry = (more: Partial<ClaimedRetry>): ClaimedRetry => ({
    ...claimed(1, { workflow_id: 'dlv_1' }),
    status: 503,
    error: null,
    ...more,
  });
  const args = (one: ClaimedRetry) => startsOf([one])[0]?.args;
  expect(args(retry({ attempt_count: 2 }))).toEqual(['dlv_1', { message: 'Attempt 2 of 6: HTTP 503', delayMs: 0 }]);
  expect(args(retry({ attempt_count: 0, status: null }))).toEqual(['dlv_1']);
});
