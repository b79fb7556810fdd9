import { expect, test } from 'vitest';
import type { Claimed } from '../src/queue.ts';
import { firstStarts } from '../src/starts.ts';

const claimed = (n: number, more: Partial<Claimed> = {}): Claimed => ({
  id: `dlv_${n}`,
  project_id: 'prj_1',
  endpoint_id: 'whe_1',
  event_type: 'email.sent',
  workflow_id: 'batch_1',
  ...more,
});
const labels = (...members: Claimed[]) => firstStarts(members).map(({ searchAttributes }) => searchAttributes);

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
  const starts = firstStarts([claimed(1), claimed(2, { workflow_id: 'dlv_2' }), claimed(3)]);
  expect(starts.map(({ workflowId, deliveryIds, type }) => [workflowId, type, deliveryIds])).toEqual([
    ['batch_1', 'deliverBatch', ['dlv_1', 'dlv_3']],
    ['dlv_2', 'deliverWebhook', ['dlv_2']],
  ]);
});
