import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { newClaim } from './ledger.ts';
import { type BatchTurn, sendBatchTurn } from './transactional.ts';

export type { BatchTurn } from './transactional.ts';

/** Sends what a workflow has in hand and is due now. Beats until the last answer is recorded. */
export async function sendBatch(workflowId: string): Promise<BatchTurn> {
  const beat = setInterval(heartbeat, 2_000);
  try {
    return await sendBatchTurn(workflowId, newClaim(), cancellationSignal());
  } finally {
    clearInterval(beat);
  }
}
