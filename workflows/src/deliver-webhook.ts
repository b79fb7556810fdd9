import type * as webhooks from '@postroom/webhooks/activities';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';

/** Sent by an operator: make the next attempt now instead of when it is due. */
export const retryNow = defineSignal('retryNow');
/** Sent by an operator: make no further attempt. */
export const giveUp = defineSignal('giveUp');

const attempts = {
  startToCloseTimeout: '20 seconds', // an attempt times out after 10 (spec: Delivery)
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED, // two attempts never run at once
} as const;

/** Each failure carries the delay until the next attempt. This policy approximates those delays for attempts that die silently. */
const retry = { initialInterval: '1 minute', backoffCoefficient: 4.2, maximumInterval: '6 hours' } as const;

/** A first attempt that is not acknowledged fails back to the workflow, so that its status becomes `retried`. */
const first = proxyActivities<typeof webhooks>({
  ...attempts,
  retry: { ...retry, nonRetryableErrorTypes: ['NotAcknowledged'] },
  summary: 'First attempt',
});
/** All later attempts are retries of one activity, which keeps the history short. */
const others = proxyActivities<typeof webhooks>({ ...attempts, retry, summary: 'Later attempts' });
const { giveUpDelivery } = proxyActivities<typeof webhooks>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '1 day',
});

const deliveryStatus = defineSearchAttributeKey('deliveryStatus', SearchAttributeType.KEYWORD);

/**
 * Delivers one event to one endpoint, retrying until it is acknowledged or fails for good. `refused` is the result of the first
 * attempt if it was made in a batch; the workflow then starts by waiting for the second.
 */
export async function deliverWebhook(deliveryId: string, refused?: Refusal): Promise<webhooks.Outcome> {
  const operator = listenToOperator();
  let { attemptDelivery } = refused === undefined ? first : others;
  try {
    if (refused !== undefined) await wait(refused, operator);
    while (!operator.hasGivenUp()) {
      const result = await operator.interruptible(() => attemptDelivery(deliveryId)).catch(refusal);
      if (typeof result === 'string') return end(result);
      if (result.delayMs > 0 && !operator.hasGivenUp()) await wait(result, operator);
      ({ attemptDelivery } = others);
    }
    await giveUpDelivery(deliveryId);
    return end('failed', 'Given up by an operator.');
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => giveUpDelivery(deliveryId));
    throw error;
  }
}

/** An attempt that was not acknowledged. */
export interface Refusal {
  /** The number of the attempt and a short form of the response. */
  message: string;
  /** Milliseconds until the next attempt; 0 if an operator's signal interrupted this one. */
  delayMs: number;
}

/** Extracts the refusal from a failed attempt; rethrows every other error. */
function refusal(error: unknown): Refusal {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof ApplicationFailure && cause.type === 'NotAcknowledged') {
    const [details] = cause.details as [{ delayMs: number }];
    return { message: cause.message, delayMs: details.delayMs };
  }
  if (error instanceof Interrupted) return { message: '', delayMs: 0 };
  throw error;
}

async function wait({ message, delayMs }: Refusal, operator: Operator): Promise<void> {
  const nextAttemptAt = new Date(Date.now() + delayMs).toISOString();
  showStatus('retried');
  setCurrentDetails(
    `${message}\n\nThe next attempt is due at ${nextAttemptAt}. The answers to it and to those after it are on the pending activity.`,
  );
  await operator.waitForSignal(delayMs);
}

/** Setting an attribute that the namespace lacks would fail; a workflow that started without attributes says so. */
function showStatus(value: string): void {
  if (workflowInfo().memo?.withoutSearchAttributes !== true) upsertSearchAttributes([{ key: deliveryStatus, value }]);
}

function end(outcome: webhooks.Outcome, details = ENDINGS[outcome]): webhooks.Outcome {
  showStatus(outcome);
  setCurrentDetails(details);
  return outcome;
}

const ENDINGS: Record<webhooks.Outcome, string> = {
  acknowledged: 'The receiver acknowledged the event.',
  failed: 'Six attempts were not acknowledged.',
  returned: 'The delivery is back in the queue: its endpoint is disabled, or another workflow has it.',
  deleted: 'The endpoint or the event has been deleted.',
};

/** Thrown when an operator's signal interrupts an attempt. */
class Interrupted extends Error {}

interface Operator {
  hasGivenUp: () => boolean;
  /** Runs `work` and cancels it when a signal arrives; throws `Interrupted` if the cancellation took effect. */
  interruptible: <T>(work: () => Promise<T>) => Promise<T>;
  /** Waits for a signal for up to `timeoutMs`; returns at once if one arrived during the previous attempt. */
  waitForSignal: (timeoutMs: number) => Promise<void>;
}

function listenToOperator(): Operator {
  let received: 'retryNow' | 'giveUp' | undefined;
  let scope: CancellationScope | undefined;
  const receive = (name: 'retryNow' | 'giveUp') => () => {
    received = name;
    scope?.cancel();
  };
  setHandler(retryNow, receive('retryNow'));
  setHandler(giveUp, receive('giveUp'));
  return {
    hasGivenUp: () => received === 'giveUp',
    interruptible: async (work) => {
      received = undefined;
      scope = new CancellationScope();
      try {
        return await scope.run(work);
      } catch (error) {
        throw received !== undefined && isCancellation(error) ? new Interrupted() : error;
      } finally {
        scope = undefined;
      }
    },
    waitForSignal: async (timeoutMs) => {
      // A signal received during an attempt applies to the wait after it. Histories from before the patch dropped it.
      if (received === 'retryNow' && !patched('words-during-attempts')) received = undefined;
      await condition(() => received !== undefined, timeoutMs);
    },
  };
}
