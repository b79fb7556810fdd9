import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { databaseNow, pool, stopAfterRepeatedErrors } from '@postroom/platform';
import { withHeartbeat, withSlot } from '@postroom/temporal/activity';
import { failDelivery, releaseDeliveries, loadDeliveries, recordAttempt, splitBatch } from './attempts.ts';
import { type AttemptResult, type DueDelivery, post } from './make-attempt.ts';
import { type BatchOutcome, runBatch } from './batch.ts';
import { individualBudget } from './individual-budget.ts';
import { acquire } from './concurrency-limit.ts';
import { describeResponse } from './schedule.ts';
import { POLICY } from './policy.ts';

export type { BatchOutcome } from './batch.ts';

/**
 * How a delivery's workflow ended. `returned`: the delivery is back in the table, because its endpoint is disabled or
 * another workflow owns it.
 */
export type Outcome = 'acknowledged' | 'failed' | 'returned' | 'deleted';

/**
 * Posts once and records the attempt. Throws if it was not acknowledged, with the delay before the next attempt, so
 * that Temporal does the waiting; the sixth failure is an outcome (spec: Webhook delivery).
 */
export async function attemptDelivery(deliveryId: string): Promise<Outcome> {
  return stopAfterRepeatedErrors(
    `delivery ${deliveryId}`,
    () => attemptOnce(deliveryId),
    async () => {
      await failDelivery(deliveryId);
      return 'failed' as const;
    },
  );
}

async function attemptOnce(deliveryId: string): Promise<Outcome> {
  individualBudget.recordBegun(deliveryId, databaseNow());
  const [delivery] = await loadDeliveries([deliveryId]);
  if (delivery === undefined) return 'deleted';
  if (delivery.state === 'acknowledged' || delivery.state === 'failed') return delivery.state;
  if (!(await acquireDelivery(delivery))) return 'returned';
  if (!delivery.enabled) {
    await releaseDeliveries([deliveryId], { enabled: false });
    return 'returned';
  }
  return outcomeOf(await attemptWithinLimit(delivery));
}

function outcomeOf(attempted: AttemptResult): Outcome {
  if (attempted.acknowledged) return 'acknowledged';
  if (attempted.delayMs === undefined) return 'failed';
  const { number, delayMs, response } = attempted;
  throw ApplicationFailure.create({
    message: `Attempt ${number} of ${POLICY.attempt.max}: ${describeResponse(response)}`,
    type: 'NotAcknowledged',
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: delayMs,
    details: [{ delayMs }],
  });
}

/**
 * Whether this workflow owns the delivery. A delivery belongs to one workflow at a time; an unowned one is claimed
 * here.
 */
async function acquireDelivery({ id, workflow_id: owner }: DueDelivery): Promise<boolean> {
  const { workflowId } = activityInfo().workflowExecution ?? { workflowId: id };
  if (owner !== null) return owner === workflowId;
  const { rowCount } = await pool.query(
    'UPDATE deliveries SET workflow_id = $2, dispatched_at = now() WHERE id = $1 AND workflow_id IS NULL',
    [id, workflowId],
  );
  return rowCount === 1;
}

/**
 * Posts and records the attempt. Throws `Busy`, to be retried in 5 to 15 seconds, when the endpoint or project is at
 * its concurrency limit.
 */
async function attemptWithinLimit(delivery: DueDelivery): Promise<AttemptResult> {
  const busy = {
    message: 'The endpoint, or its project, is at its concurrency limit; retrying shortly.',
    retryMs: 5_000 + Math.round(Math.random() * 10_000),
  };
  return withSlot(await acquire(delivery), busy, async () => {
    const attempted = await post(delivery);
    await recordAttempt(attempted);
    return attempted;
  });
}

/**
 * Makes one attempt of each delivery, whatever its number. Those not acknowledged, or not started in time, go back to the
 * table for the dispatcher.
 */
export async function attemptBatch(deliveryIds: string[]): Promise<BatchOutcome> {
  const { workflowId = '' } = activityInfo().workflowExecution ?? {};
  return stopAfterRepeatedErrors(
    `batch ${workflowId}`,
    () => attemptAll(deliveryIds),
    async () => {
      await splitBatch(workflowId, deliveryIds);
      return { acknowledged: 0, retried: deliveryIds.length, returned: 0, retriedIds: deliveryIds };
    },
  );
}

async function attemptAll(deliveryIds: string[]): Promise<BatchOutcome> {
  const workflowId = activityInfo().workflowExecution?.workflowId;
  const loaded = await loadDeliveries(deliveryIds);
  const owned = loaded.filter(
    (one) => one.workflow_id === workflowId && (one.state === 'queued' || one.state === 'retried'),
  );
  return withHeartbeat(() => runBatch(owned, cancellationSignal()));
}

/** Fails a delivery on an operator's request. */
export async function giveUpDelivery(deliveryId: string): Promise<void> {
  await failDelivery(deliveryId);
}
