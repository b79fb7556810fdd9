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
} from '@temporalio/workflow';

/** An operator's word: the next attempt now, instead of when it is due. */
export const retryNow = defineSignal('retryNow');
/** An operator's word: no further attempt. */
export const giveUp = defineSignal('giveUp');

const attempts = {
  startToCloseTimeout: '20 seconds', // an attempt is cut off after 10 (spec: Delivery)
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED, // two attempts are never under way at once
} as const;

/** The waits between attempts come with each failure; these, of the same shape, are for attempts that died silently. */
const retry = { initialInterval: '1 minute', backoffCoefficient: 4.2, maximumInterval: '6 hours' } as const;

/** A first attempt that is not acknowledged comes back to the workflow, so that it can say that it is being retried. */
const first = proxyActivities<typeof webhooks>({
  ...attempts,
  retry: { ...retry, nonRetryableErrorTypes: ['NotAcknowledged'] },
  summary: 'The first attempt',
});
/** The others follow each other inside one activity, which is a few events of history instead of a few for each. */
const others = proxyActivities<typeof webhooks>({ ...attempts, retry, summary: 'The other attempts' });
const { giveUpDelivery } = proxyActivities<typeof webhooks>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '1 day',
});

const deliveryStatus = defineSearchAttributeKey('deliveryStatus', SearchAttributeType.KEYWORD);

/**
 * One event to one endpoint, until it is acknowledged or given up. `refused` is the answer to its first attempt when that
 * was made in a batch: then this workflow goes on with the wait for the second.
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
  /** Which attempt it was, and its answer in a few words. */
  message: string;
  /** Milliseconds until the next attempt; 0 when an operator's word cut the wait. */
  delayMs: number;
}

/** Reads what an attempt that was not acknowledged said; every other error is thrown on. */
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
  const again = new Date(Date.now() + delayMs).toISOString();
  upsertSearchAttributes([{ key: deliveryStatus, value: 'retried' }]);
  setCurrentDetails(
    `${message}\n\nThe next attempt is due at ${again}. The answers to it and to those after it are on the pending activity.`,
  );
  await operator.word(delayMs);
}

function end(outcome: webhooks.Outcome, details = ENDINGS[outcome]): webhooks.Outcome {
  upsertSearchAttributes([{ key: deliveryStatus, value: outcome }]);
  setCurrentDetails(details);
  return outcome;
}

const ENDINGS: Record<webhooks.Outcome, string> = {
  acknowledged: 'The receiver acknowledged the event.',
  failed: 'Six attempts were not acknowledged.',
  returned: 'The delivery waits in the table again: its endpoint is disabled, or another workflow has it.',
  deleted: 'The endpoint or the event has been deleted.',
};

/** Thrown out of what an operator's word interrupted. */
class Interrupted extends Error {}

interface Operator {
  hasGivenUp: () => boolean;
  /** Runs `work` until it ends or a word comes; then what it does is cancelled, and `Interrupted` thrown if it let itself be. */
  interruptible: <T>(work: () => Promise<T>) => Promise<T>;
  /** Waits for a word, at most so long; not at all when one came during the attempt before. */
  word: (timeoutMs: number) => Promise<void>;
}

function listenToOperator(): Operator {
  let word: 'retryNow' | 'giveUp' | undefined;
  let scope: CancellationScope | undefined;
  const hear = (heard: 'retryNow' | 'giveUp') => () => {
    word = heard;
    scope?.cancel();
  };
  setHandler(retryNow, hear('retryNow'));
  setHandler(giveUp, hear('giveUp'));
  return {
    hasGivenUp: () => word === 'giveUp',
    interruptible: async (work) => {
      word = undefined;
      scope = new CancellationScope();
      try {
        return await scope.run(work);
      } catch (error) {
        throw word !== undefined && isCancellation(error) ? new Interrupted() : error;
      } finally {
        scope = undefined;
      }
    },
    word: async (timeoutMs) => {
      // What is said while an attempt is being made counts for the wait after it. It was forgotten once, as those histories show.
      if (word === 'retryNow' && !patched('words-during-attempts')) word = undefined;
      await condition(() => word !== undefined, timeoutMs);
    },
  };
}
