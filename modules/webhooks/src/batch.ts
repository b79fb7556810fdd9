import { isDraining, type SharedSlots } from '@postroom/platform';
import { releaseDeliveries, recordAttempts } from './attempts.ts';
import { type AttemptResult, type DueDelivery, post } from './make-attempt.ts';
import { requestSlots } from './concurrency-limit.ts';
import { POLICY } from './policy.ts';

/** One endpoint's deliveries in a batch. */
interface EndpointQueue {
  waiting: DueDelivery[];
  /** For requests to the endpoint, over all batches and processes. */
  slots: SharedSlots;
  isAwaitingSlot: boolean;
  concurrency: number;
  inFlight: number;
  failuresInRow: number;
  hasAcknowledged: boolean;
}

/** The outcome of a batch. Deliveries it does not name were acknowledged. */
export interface BatchOutcome {
  acknowledged: number;
  /** Not acknowledged; back in the table, or failed for good. */
  retried: number;
  /** Not attempted; back in the table. */
  returned: number;
  /** The ids of those, for operators who look a delivery up in the history. Missing in results from before they were recorded. */
  retriedIds?: string[];
  returnedIds?: string[];
}

/** Makes and records one attempt of each of these deliveries, endpoints in parallel. */
export async function runBatch(deliveries: readonly DueDelivery[], signal: AbortSignal): Promise<BatchOutcome> {
  const results = new ResultWriter();
  const queues = toQueues(deliveries.filter(({ enabled }) => enabled));
  const deadline = performance.now() + POLICY.batch.startWindowMs;
  await Promise.all(
    queues.map((queue) =>
      runQueue(queue, results, () => signal.aborted || isDraining() || performance.now() > deadline),
    ),
  );
  await results.flush();
  const unstarted = queues.flatMap(({ waiting }) => waiting.map(({ id }) => id));
  const disabled = deliveries.filter(({ enabled }) => !enabled).map(({ id }) => id);
  await releaseDeliveries(unstarted, { enabled: true });
  await releaseDeliveries(disabled, { enabled: false });
  const returnedIds = [...unstarted, ...disabled];
  return { ...results.outcome(), returned: returnedIds.length, returnedIds };
}

function toQueues(deliveries: readonly DueDelivery[]): EndpointQueue[] {
  const queues = new Map<string, EndpointQueue>();
  for (const delivery of deliveries) {
    const queue = queues.get(delivery.endpoint_id);
    if (queue === undefined)
      queues.set(delivery.endpoint_id, {
        waiting: [delivery],
        slots: requestSlots(delivery),
        isAwaitingSlot: false,
        concurrency: POLICY.batch.initialConcurrency,
        inFlight: 0,
        failuresInRow: 0,
        hasAcknowledged: false,
      });
    else queue.waiting.push(delivery);
  }
  return [...queues.values()];
}

/**
 * Posts until the queue is empty, the endpoint keeps failing or the batch stops; resolves when nothing is in flight.
 */
function runQueue(queue: EndpointQueue, results: ResultWriter, isStopped: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = () => {
      while (queue.inFlight < queue.concurrency && !isFailing(queue) && !isStopped()) {
        const [delivery] = queue.waiting;
        if (delivery === undefined) break;
        const release = queue.slots.tryAcquire();
        if (release === undefined) {
          awaitSlot();
          break;
        }
        queue.waiting.shift();
        queue.inFlight++;
        post(delivery).finally(release).then(done, reject);
      }
      if (queue.inFlight === 0 && !queue.isAwaitingSlot) resolve();
    };
    const awaitSlot = () => {
      if (queue.isAwaitingSlot) return;
      queue.isAwaitingSlot = true;
      void queue.slots.untilReady(queue.concurrency - queue.inFlight, POLICY.batch.slotWaitMs).then(() => {
        queue.isAwaitingSlot = false;
        next();
      });
    };
    const done = (attempted: AttemptResult) => {
      queue.inFlight--;
      queue.failuresInRow = attempted.acknowledged ? 0 : queue.failuresInRow + 1;
      queue.hasAcknowledged ||= attempted.acknowledged;
      if (attempted.acknowledged) queue.concurrency = Math.min(queue.concurrency + 1, POLICY.batch.maxConcurrency);
      results.add(attempted);
      next();
    };
    next();
  });
}

/** An endpoint that has not acknowledged in this batch gets only as many POSTs as it takes to count as degraded. */
const isFailing = ({ failuresInRow, inFlight, hasAcknowledged }: EndpointQueue) =>
  failuresInRow + (hasAcknowledged ? 0 : inFlight) >= POLICY.endpoint.degradedAfter;

/** Buffers attempts and writes them in groups, sequentially. */
class ResultWriter {
  #acknowledged = 0;
  readonly #retriedIds: string[] = [];
  #buffered: AttemptResult[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  add(attempted: AttemptResult): void {
    if (attempted.acknowledged) this.#acknowledged++;
    else this.#retriedIds.push(attempted.delivery.id);
    this.#buffered.push(attempted);
    if (this.#buffered.length >= POLICY.batch.flushSize) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), POLICY.batch.flushIntervalMs);
  }

  outcome() {
    return { acknowledged: this.#acknowledged, retried: this.#retriedIds.length, retriedIds: this.#retriedIds };
  }

  async flush(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const attempts = this.#buffered;
    this.#buffered = [];
    if (attempts.length === 0) return;
    this.#writing = this.#writing.then(() => recordAttempts(attempts, { requeue: true }));
    this.#writing.catch(() => {}); // flush() rethrows it
  }
}
