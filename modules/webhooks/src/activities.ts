import { activityInfo, cancelled, Context, heartbeat } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { pool, stopAfterRepeatedErrors } from '@postroom/platform';
import {
  type Attempted,
  type DueDelivery,
  fail,
  releaseDeliveries,
  loadDeliveries,
  post,
  recordAttempts,
  takeOutOfBatch,
} from './attempts.ts';
import { runBatch } from './batch.ts';
import { tryAcquire } from './concurrency-limit.ts';
import { type Deleted, deleteOld } from './retention.ts';
import { describeResponse, MAX_ATTEMPTS } from './schedule.ts';

export type { Deleted };

/** How a delivery's workflow ended. `returned`: it waits in the table again, for its endpoint is disabled or another workflow has it. */
export type Outcome = 'acknowledged' | 'failed' | 'returned' | 'deleted';

/** What became of a batch, in numbers. */
export interface BatchOutcome {
  acknowledged: number;
  /** Not acknowledged: they go on in workflows of their own. */
  retried: number;
  /** Not attempted: they wait in the table again. */
  returned: number;
}

/**
 * Posts once and records it. A refusal is thrown, with the wait until the next attempt, so that Temporal waits; the sixth
 * is an outcome (spec: Webhook delivery).
 */
export async function attemptDelivery(deliveryId: string): Promise<Outcome> {
  return stopAfterRepeatedErrors(
    `delivery ${deliveryId}`,
    () => attemptOnce(deliveryId),
    async () => {
      await fail(deliveryId);
      return 'failed' as const;
    },
  );
}

async function attemptOnce(deliveryId: string): Promise<Outcome> {
  const [delivery] = await loadDeliveries([deliveryId]);
  if (delivery === undefined) return 'deleted';
  if (delivery.state === 'acknowledged' || delivery.state === 'failed') return delivery.state;
  if (!(await isOurs(delivery))) return 'returned';
  if (!delivery.enabled) {
    await releaseDeliveries([deliveryId], { enabled: false });
    return 'returned';
  }
  return outcomeOf(await attemptInTurn(delivery));
}

function outcomeOf(attempted: Attempted): Outcome {
  if (attempted.acknowledged) return 'acknowledged';
  if (attempted.delayMs === undefined) return 'failed';
  const { number, delayMs, answer } = attempted;
  throw ApplicationFailure.create({
    message: `Attempt ${number} of ${MAX_ATTEMPTS}: ${describeResponse(answer)}`,
    type: 'NotAcknowledged',
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: delayMs,
    details: [{ delayMs }],
  });
}

/** A delivery belongs to one workflow at a time; one that nobody has is taken. */
async function isOurs({ id, workflow_id: holder }: DueDelivery): Promise<boolean> {
  const { workflowId } = activityInfo().workflowExecution ?? { workflowId: id };
  if (holder !== null) return holder === workflowId;
  const { rowCount } = await pool.query(
    'UPDATE deliveries SET workflow_id = $2, dispatched_at = now() WHERE id = $1 AND workflow_id IS NULL',
    [id, workflowId],
  );
  return rowCount === 1;
}

/** Posts and records; or, while too much is under way to an endpoint that fails, comes back in a few seconds. */
async function attemptInTurn(delivery: DueDelivery): Promise<Attempted> {
  const leave = tryAcquire(delivery);
  if (leave === undefined) {
    throw ApplicationFailure.create({
      message: 'The endpoint, or its project, is at its concurrency limit; retrying shortly.',
      type: 'Busy',
      category: ApplicationFailureCategory.BENIGN,
      nextRetryDelay: 5_000 + Math.round(Math.random() * 10_000),
    });
  }
  try {
    const attempted = await post(delivery);
    await recordAttempts([attempted], { handBack: false });
    return attempted;
  } finally {
    leave();
  }
}

/** Makes the first attempts of many deliveries. What is not acknowledged, or not begun in time, waits for the relay again. */
export async function attemptBatch(deliveryIds: string[]): Promise<BatchOutcome> {
  const workflowId = activityInfo().workflowExecution?.workflowId;
  return stopAfterRepeatedErrors(
    `batch ${workflowId}`,
    () => attemptAll(deliveryIds),
    async () => {
      await takeOutOfBatch(deliveryIds);
      return { acknowledged: 0, retried: deliveryIds.length, returned: 0 };
    },
  );
}

async function attemptAll(deliveryIds: string[]): Promise<BatchOutcome> {
  const workflowId = activityInfo().workflowExecution?.workflowId;
  const loaded = await loadDeliveries(deliveryIds);
  const ours = loaded.filter((one) => one.workflow_id === workflowId && one.state === 'queued');
  const beat = setInterval(heartbeat, 2_000);
  const stopping = new AbortController();
  cancelled().catch(() => stopping.abort());
  try {
    return await runBatch(ours, stopping.signal);
  } finally {
    clearInterval(beat);
  }
}

/** Deletes what is older than it has to be kept. What it did not come to when it is stopped is left for the next time. */
export async function deleteOldRows(): Promise<Deleted> {
  const context = Context.current();
  return deleteOld({
    onBatch: () => {
      heartbeat();
      context.cancellationSignal.throwIfAborted();
    },
  });
}

/** Ends a delivery at the word of an operator. */
export async function giveUpDelivery(deliveryId: string): Promise<void> {
  await fail(deliveryId);
}
