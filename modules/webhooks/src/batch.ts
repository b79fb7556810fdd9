import { DEGRADED_AFTER } from './concurrency-limit.ts';
import { type Attempted, type DueDelivery, releaseDeliveries, post, recordAttempts } from './attempts.ts';

/** POSTs under way to one endpoint in a batch: few at first, more with each acknowledgement. */
const FIRST_WIDTH = 10;
const MAX_WIDTH = 32;

/** After this time a batch begins no more POSTs, so that it ends soon and its worker can stop. */
const BEGIN_WITHIN_MS = 5_000;

/** Results are written in portions: what is in one and not yet written is posted again after a crash. */
const PORTION = 100;
const PORTION_MS = 150;

/** One endpoint's part of a batch. */
interface Lane {
  waiting: DueDelivery[];
  width: number;
  underWay: number;
  failuresInRow: number;
  hasAcknowledged: boolean;
}

/** Makes the first attempts of these deliveries, those to different endpoints side by side, and records them. */
export async function runBatch(
  deliveries: readonly DueDelivery[],
  signal: AbortSignal,
): Promise<{ acknowledged: number; retried: number; returned: number }> {
  const results = new Results();
  const lanes = toLanes(deliveries.filter(({ enabled }) => enabled));
  const endsAt = Date.now() + BEGIN_WITHIN_MS;
  await Promise.all(lanes.map((lane) => runLane(lane, results, () => signal.aborted || Date.now() > endsAt)));
  await results.flush();
  const leftOver = lanes.flatMap(({ waiting }) => waiting.map(({ id }) => id));
  const disabled = deliveries.filter(({ enabled }) => !enabled).map(({ id }) => id);
  await releaseDeliveries(leftOver, { enabled: true });
  await releaseDeliveries(disabled, { enabled: false });
  return { ...results.counts, returned: leftOver.length + disabled.length };
}

function toLanes(deliveries: readonly DueDelivery[]): Lane[] {
  const lanes = new Map<string, Lane>();
  for (const delivery of deliveries) {
    const lane = lanes.get(delivery.endpoint_id);
    if (lane === undefined)
      lanes.set(delivery.endpoint_id, {
        waiting: [delivery],
        width: FIRST_WIDTH,
        underWay: 0,
        failuresInRow: 0,
        hasAcknowledged: false,
      });
    else lane.waiting.push(delivery);
  }
  return [...lanes.values()];
}

/** Posts until nothing waits, the endpoint only fails, or it is time to stop; resolves when nothing is under way. */
function runLane(lane: Lane, results: Results, isOver: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = () => {
      while (lane.underWay < lane.width && !isHopeless(lane) && !isOver()) {
        const delivery = lane.waiting.shift();
        if (delivery === undefined) break;
        lane.underWay++;
        post(delivery).then(done, reject);
      }
      if (lane.underWay === 0) resolve();
    };
    const done = (attempted: Attempted) => {
      lane.underWay--;
      lane.failuresInRow = attempted.acknowledged ? 0 : lane.failuresInRow + 1;
      lane.hasAcknowledged ||= attempted.acknowledged;
      if (attempted.acknowledged) lane.width = Math.min(lane.width + 1, MAX_WIDTH);
      results.add(attempted);
      next();
    };
    next();
  });
}

/** An endpoint that has not acknowledged in this batch gets no more than it takes to count as struggling. */
const isHopeless = ({ failuresInRow, underWay, hasAcknowledged }: Lane) =>
  failuresInRow + (hasAcknowledged ? 0 : underWay) >= DEGRADED_AFTER;

/** Collects attempts and writes them in portions, one after the other. */
class Results {
  readonly counts = { acknowledged: 0, retried: 0 };
  #collected: Attempted[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  add(attempted: Attempted): void {
    this.counts[attempted.acknowledged ? 'acknowledged' : 'retried']++;
    this.#collected.push(attempted);
    if (this.#collected.length >= PORTION) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), PORTION_MS);
  }

  async flush(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const portion = this.#collected;
    this.#collected = [];
    if (portion.length === 0) return;
    this.#writing = this.#writing.then(() => recordAttempts(portion, { handBack: true }));
    this.#writing.catch(() => {}); // heard in flush()
  }
}
