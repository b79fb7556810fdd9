import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { stopAfterRepeatedErrors } from '@postroom/platform';
import { type QueueDrainOptions, endFailingBurst, drainQueue } from './drain-queue.ts';
import { newClaim } from '@postroom/ledger';
import { type BatchRun, failBatch, sendBatchUntilDeadline } from './transactional.ts';

export type { QueueDrainOptions } from './drain-queue.ts';
export type { BatchRun } from './transactional.ts';

/** Sends what a workflow has in hand and is due now. */
export function sendBatch(workflowId: string): Promise<BatchRun> {
  return beating(() =>
    stopAfterRepeatedErrors(
      `batch ${workflowId}`,
      () => sendBatchUntilDeadline(workflowId, newClaim(), cancellationSignal()),
      (reason) => failBatch(workflowId, newClaim(), reason),
    ),
  );
}

/** Sends what comes for a project, for a turn or until nothing comes any more. */
export function sendFromQueue(projectId: string, workflowId: string): Promise<QueueDrainOptions> {
  return beating(() =>
    stopAfterRepeatedErrors(
      `burst ${workflowId}`,
      () => drainQueue(projectId, workflowId, newClaim(), cancellationSignal()),
      () => endFailingBurst(projectId, workflowId, newClaim()),
    ),
  );
}

/** Beats until the last answer is recorded. */
async function beating<T>(work: () => Promise<T>): Promise<T> {
  const beat = setInterval(heartbeat, 2_000);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
