import { newId, pool, startWorkflow } from '@postroom/platform';
import { startOnce } from '@postroom/platform/dispatcher';
import { eventually, startTestWorker } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTemporal, type TemporalConnections } from '../src/temporal.ts';

let temporal: TemporalConnections;
beforeAll(async () => {
  await startTestWorker(); // a process has one Temporal runtime, and this is who sets it up
  temporal = await connectTemporal(new AbortController().signal);
});
afterAll(() => temporal.close());

/** A delivery that does not exist: its workflow ends at once. */
const start = () => {
  const workflowId = newId('dlv');
  return { workflowId, type: 'deliverWebhook', args: [workflowId] };
};

test('what the relay starts begins in its process, in the answer to the start', async () => {
  const one = start();
  await startWorkflow(pool, one);
  const handle = temporal.client.workflow.getHandle(one.workflowId);
  await eventually(async () => expect(await handle.result()).toBe('deleted'));
  const { events } = await handle.fetchHistory();
  expect(events?.[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted).toBe(true);
});

test('a workflow that was started before is not started again, whether it is running or has ended', async () => {
  const one = start();
  await Promise.all([startOnce(temporal.client, one), startOnce(temporal.client, one)]);
  const handle = temporal.client.workflow.getHandle(one.workflowId);
  const { runId } = await handle.describe();
  await handle.result();
  await startOnce(temporal.client, one);
  expect((await handle.describe()).runId).toBe(runId);
});
