import { cancellationSignal } from '@temporalio/activity';
import { stopAfterRepeatedErrors } from '@postroom/platform';
import { withHeartbeat } from '@postroom/temporal/activity';
import { type QueueDrainRun, abortQueueDrain, drainQueue } from './drain-queue.ts';
import { newClaim } from '@postroom/ledger';
import { type BatchRun, failBatch, sendBatchUntilDeadline } from './transactional.ts';

export type { QueueDrainRun } from './drain-queue.ts';
export type { BatchRun } from './transactional.ts';

/** Sends the due messages assigned to a workflow. */
export function sendBatch(workflowId: string): Promise<BatchRun> {
  return withHeartbeat(() =>
    stopAfterRepeatedErrors(
      `batch ${workflowId}`,
      () => sendBatchUntilDeadline(workflowId, newClaim(workflowId), cancellationSignal()),
      (reason) => failBatch(workflowId, newClaim(workflowId), reason),
    ),
  );
}

/** Sends a project's queued mail for one run, or until the queue is empty. */
export function sendFromQueue(projectId: string, workflowId: string): Promise<QueueDrainRun> {
  return withHeartbeat(() =>
    stopAfterRepeatedErrors(
      `queue drain ${workflowId}`,
      () => drainQueue(projectId, workflowId, newClaim(workflowId), cancellationSignal()),
      () => abortQueueDrain(projectId, workflowId, newClaim(workflowId)),
    ),
  );
}
