import { isOutage, logger } from '@postroom/platform';
import type { Settlement } from './ledger.ts';
import { MessageError } from '@postroom/mime';
import { type Claimed, settlementOf, unexpected } from './settlement.ts';
import type { SendOutcome } from '@postroom/smtp';
import { TokenBucket } from '@postroom/platform';

/** Where messages come from and where what became of them goes. */
export interface PipelineWork<Row extends Claimed> {
  /** Claims up to so many messages; the claim is committed when it resolves. None means that nothing more is to be sent now. */
  claim: (limit: number) => Promise<{ rows: Row[]; ratePerSecond: number | null }>;
  /**
   * Sends one message, once. Any error means that nothing went out: a `MessageError` fails the message, an outage ends the
   * sending, and after any other the message goes again a few times, and then fails.
   */
  send: (row: Row) => Promise<SendResult>;
  /** Records outcomes; called one at a time. */
  settle: (settlements: Settlement[]) => Promise<void>;
  /** Ends the claiming. What has not gone out by then is given back. */
  signal: AbortSignal;
  /** Messages that are under way at once at most, as things are now. */
  width: () => number;
}

/** The outcome of one send, and the subject when it is not the campaign's as it stands. */
export interface SendResult {
  outcome: SendOutcome;
  subject?: string | undefined;
}

/** Why the sending ended before there was nothing more to send. */
export interface Backoff {
  /** `host`: the mail server takes nothing now. `configuration`: it never will, as things are set up. */
  cause: 'host' | 'configuration';
  answer: string;
  waitMs?: number | undefined;
}

/** Rows of a page at most and at least, and how long one should last, in milliseconds: little is in hand when a worker is killed. */
const MAX_PAGE = 1000;
const PAGE_MS = 60;
const SMALL_PAGE = 20;

/** Outcomes are recorded when there are so many, or so many milliseconds after the first. */
const SETTLE_ROWS = 400;
const SETTLE_MS = 25;
/** With more than so many unrecorded, nothing is claimed: a database that is slower than the mail server sets the pace. */
const MOST_UNRECORDED = 2_000;

/**
 * Sends what is claimed over a lane until nothing is left, it is told to stop, or the server takes nothing more. The next
 * page is claimed and finished messages are recorded while others go out, so that the connections never wait.
 * @throws what `claim` threw, or an outage that `send` threw, after everything in hand has been recorded or given back; UnrecordedError when
 * `settle` failed.
 */
export function runSendPipeline<Row extends Claimed>(work: PipelineWork<Row>): Promise<{ hold: Backoff | undefined }> {
  return new SendPipeline(work).run();
}

/** Messages went out and it could not be recorded: what is claimed must not be given back, or it would go out twice. */
export class UnrecordedError extends Error {
  constructor(cause: unknown) {
    super('What became of messages could not be recorded.', { cause });
  }
}

class SendPipeline<Row extends Claimed> {
  readonly #work: PipelineWork<Row>;
  readonly #done = Promise.withResolvers<{ hold: Backoff | undefined }>();
  readonly #bucket = new TokenBucket();
  #waiting: Row[] = [];
  #next = 0;
  #inFlight = 0;
  #outcomes: Settlement[] = [];
  #claiming = false;
  #settling = false;
  #settleAt: NodeJS.Timeout | undefined;
  #exhausted = false;
  #stopped = false;
  #hold: Backoff | undefined;
  #failure: { error: unknown } | undefined;
  #canSettle = true;
  readonly #width: () => number;
  #pageSize: number;
  #pageAt = 0;
  /** Messages a millisecond since the page before, and how long that took to claim. */
  #pace = 0;
  #claimMs = 0;
  /** Messages that have come to their end since the last page was asked for. */
  #finished = 0;

  constructor(work: PipelineWork<Row>) {
    this.#work = work;
    this.#width = work.width;
    this.#pageSize = this.#smallestPage();
  }

  run(): Promise<{ hold: Backoff | undefined }> {
    const { signal } = this.#work;
    const stop = () => this.#stop();
    if (signal.aborted) this.#stopped = true;
    else signal.addEventListener('abort', stop, { once: true });
    this.#advance();
    return this.#done.promise.finally(() => signal.removeEventListener('abort', stop));
  }

  /** Does whatever can be done now; called after everything that changes. */
  #advance(): void {
    this.#sendWaiting();
    const left = this.#waiting.length - this.#next;
    if (left <= this.#claimAt() && this.#mayClaim) void this.#claimPage();
    if (this.#outcomes.length >= SETTLE_ROWS) void this.#settle();
    if (this.#claiming || this.#settling || this.#inFlight > 0 || left > 0) return;
    if (this.#outcomes.length > 0 && this.#canSettle) return void this.#settle();
    if (this.#exhausted || this.#stopped) this.#end();
  }

  get #mayClaim(): boolean {
    return !this.#exhausted && !this.#stopped && !this.#claiming && this.#outcomes.length <= MOST_UNRECORDED;
  }

  #end(): void {
    clearTimeout(this.#settleAt);
    this.#bucket.stop();
    if (this.#failure === undefined) this.#done.resolve({ hold: this.#hold });
    else this.#done.reject(this.#failure.error);
  }

  #sendWaiting(): void {
    const width = this.#width();
    while (this.#inFlight < width && this.#next < this.#waiting.length && !this.#stopped) {
      if (!this.#bucket.take(() => this.#advance())) return;
      void this.#send(this.#waiting[this.#next++] as Row);
    }
  }

  async #send(row: Row): Promise<void> {
    this.#inFlight++;
    const settlement = await this.#sendOnce(row);
    this.#inFlight--;
    this.#finished++;
    this.#outcomes.push(settlement);
    this.#settleSoon();
    this.#advance();
  }

  async #sendOnce(row: Row): Promise<Settlement> {
    try {
      const { outcome, subject } = await this.#work.send(row);
      this.#noteTrouble(outcome);
      const settlement = settlementOf(row, outcome);
      return subject === undefined ? settlement : { ...settlement, subject };
    } catch (error) {
      if (error instanceof MessageError) return { id: row.id, state: 'failed', answer: error.message };
      if (!isOutage(error)) {
        logger.error({ err: error, messageId: row.id }, 'a message could not be sent');
        return unexpected(row, error);
      }
      this.#fail(error);
      return { id: row.id, state: 'planned', answer: null };
    }
  }

  #settleSoon(): void {
    this.#settleAt ??= setTimeout(() => void this.#settle(), SETTLE_MS);
  }

  #noteTrouble(outcome: SendOutcome): void {
    const { answer } = outcome;
    if (outcome.kind === 'deferred' && outcome.scope === 'host') {
      this.#hold ??= { cause: 'host', answer, waitMs: outcome.waitMs };
    } else if (outcome.kind === 'refused' && outcome.verdict === 'configuration') {
      this.#hold = { cause: 'configuration', answer };
    } else return;
    this.#stop();
  }

  /** Gives back what has not gone out; what is under way comes to its end. */
  #stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#giveBackWaiting();
    this.#advance();
  }

  #giveBackWaiting(): void {
    for (const { id } of this.#waiting.slice(this.#next)) this.#outcomes.push({ id, state: 'planned', answer: null });
    this.#waiting = [];
    this.#next = 0;
  }

  async #claimPage(): Promise<void> {
    this.#claiming = true;
    const limit = this.#limit();
    const claimedAt = performance.now();
    try {
      const { rows, ratePerSecond } = await this.#work.claim(limit);
      this.#bucket.setRate(ratePerSecond);
      this.#waiting = this.#waiting.slice(this.#next).concat(rows);
      this.#next = 0;
      if (rows.length === 0) this.#exhausted = true;
      if (this.#stopped) this.#giveBackWaiting();
    } catch (error) {
      this.#fail(error);
    }
    this.#claimMs = performance.now() - claimedAt;
    this.#claiming = false;
    this.#advance();
  }

  /** How many may be left of a page when the next is claimed: what goes out in twice the time that the last claim took. */
  #claimAt(): number {
    return Math.min(this.#pageSize, Math.max(this.#pageSize / 4, this.#pace * this.#claimMs * 2));
  }

  #smallestPage(): number {
    return Math.min(SMALL_PAGE, this.#width() * 2);
  }

  /** As many rows as go out in PAGE_MS at the pace since the page before. What is claimed and waits is unknown after a kill. */
  #limit(): number {
    const now = performance.now();
    if (this.#pageAt > 0) {
      this.#pace = this.#finished / Math.max(1, now - this.#pageAt);
      this.#pageSize = Math.round(
        Math.min(MAX_PAGE, this.#pageSize * 4, Math.max(this.#smallestPage(), this.#pace * PAGE_MS)),
      );
    }
    this.#pageAt = now;
    this.#finished = 0;
    return Math.min(this.#pageSize, this.#bucket.most(PAGE_MS * 4));
  }

  async #settle(): Promise<void> {
    clearTimeout(this.#settleAt);
    this.#settleAt = undefined;
    if (this.#settling || this.#outcomes.length === 0 || !this.#canSettle) return;
    this.#settling = true;
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    try {
      await this.#work.settle(outcomes);
    } catch (error) {
      this.#canSettle = false;
      this.#failure = { error: new UnrecordedError(error) };
      this.#fail(error);
    }
    this.#settling = false;
    if (this.#outcomes.length > 0) this.#settleSoon();
    this.#advance();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stop();
  }
}
