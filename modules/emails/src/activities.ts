import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { stopAfterRepeatedErrors } from '@postroom/platform';
import { type BurstTurn, endFailingBurst, sendBurstTurn } from './drain-queue.ts';
import { newClaim } from '@postroom/ledger';
import { type BatchTurn, failBatch, sendBatchTurn } from './transactional.ts';

export type { BurstTurn } from './drain-queue.ts';
export type { BatchTurn } from './transactional.ts';

/** Sends what a workflow has in hand and is due now. */
export function sendBatch(workflowId: string): Promise<BatchTurn> {
  return beating(() =>
    stopAfterRepeatedErrors(
      `batch ${workflowId}`,
      () => sendBatchTurn(workflowId, newClaim(), cancellationSignal()),
      (reason) => failBatch(workflowId, newClaim(), reason),
    ),
  );
}

/** Sends what comes for a project, for a turn or until nothing comes any more. */
export function sendFromQueue(projectId: string, workflowId: string): Promise<BurstTurn> {
  return beating(() =>
    stopAfterRepeatedErrors(
      `burst ${workflowId}`,
      () => sendBurstTurn(projectId, workflowId, newClaim(), cancellationSignal()),
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
