import { isOutage, logger } from '@postroom/platform';
import type { InFlightJournal } from './in-flight-journal.ts';
import { type Claimed, type Settlement, settlementOf, settlementOfError } from './settlement.ts';
import { MessageError } from '@postroom/mime';
import type { SendOutcome } from '@postroom/smtp';
import { TokenBucket } from '@postroom/platform';
import { MAIL_POLICY } from './policy.ts';

/** What the pipeline needs from its caller: claim messages, send one, record outcomes. */
export interface PipelineWork<Row extends Claimed> {
  /** Claims up to `limit` messages and resolves once the claim is committed. No rows means that nothing is due. */
  claim: (limit: number) => Promise<{ rows: Row[]; ratePerSecond: number | null }>;
  /**
   * Sends one message, once. Any error means that nothing was sent: a `MessageError` fails the message, an outage stops
   * the pipeline, and any other error retries the message a few times and then fails it.
   */
  send: (row: Row) => Promise<SendResult>;
  /** Records outcomes that the ledger does not have yet, in case the process is killed. */
  journal?: Pick<InFlightJournal, 'answered'>;
  /** Records outcomes; called one at a time. */
  settle: (settlements: Settlement[]) => Promise<void>;
  /**
   * Called when nothing was left to claim and the server has not replied to a message for a while.
   * @returns whether to claim more meanwhile.
   */
  extend?: () => Promise<boolean>;
  /** Stops claiming. Claims of messages not yet in flight are released. */
  signal: AbortSignal;
  /** The current limit of messages in flight. */
  width: () => number;
}

/** The outcome of one send, and the rendered subject if it differs from the campaign's. */
export interface SendResult {
  outcome: SendOutcome;
  subject?: string | undefined;
}

/** Why the pipeline stopped before everything was sent. */
export interface Backoff {
  /** `host`: the mail server accepts no mail at the moment. `configuration`: it never will with the current settings. */
  cause: 'host' | 'configuration';
  answer: string;
  waitMs?: number | undefined;
}

/** Messages were sent but not recorded. Their claims must not be released, or they would be sent twice. */
export class UnrecordedError extends Error {
  constructor(cause: unknown) {
    super('Outcomes of sent messages could not be recorded.', { cause });
  }
}

/**
 * Claims and sends messages until none is due, the signal aborts, or the server accepts no more. It claims the next page
 * and records outcomes while other messages are in flight, so that connections never idle.
 */
export class SendPipeline<Row extends Claimed> {
  readonly #work: PipelineWork<Row>;
  readonly #done = Promise.withResolvers<Backoff | undefined>();
  readonly #bucket = new TokenBucket({ ratePerSecond: null });
  #waiting: Row[] = [];
  #next = 0;
  #inFlight = 0;
  #outcomes: Settlement[] = [];
  #claiming = false;
  #settling = false;
  #settleTimer: NodeJS.Timeout | undefined;
  #exhausted = false;
  #stallTimer: NodeJS.Timeout | undefined;
  #stopped = false;
  #backoff: Backoff | undefined;
  #failure: { error: unknown } | undefined;
  #canSettle = true;
  readonly #width: () => number;
  #pageSize: number;
  #pageStartedAt = 0;
  /** Messages per millisecond since the previous page, and how long that page took to claim, in milliseconds. */
  #sendRate = 0;
  #claimMs = 0;
  /** Messages completed since the last page was claimed. */
  #finished = 0;

  constructor(work: PipelineWork<Row>) {
    this.#work = work;
    this.#width = work.width;
    this.#pageSize = this.#smallestPage();
  }

  /**
   * Runs once.
   * @returns why it stopped early; undefined if it did not.
   * @throws whatever `claim` threw, or an outage that `send` threw, after all outcomes are recorded and claims released;
   * UnrecordedError if `settle` failed.
   */
  run(): Promise<Backoff | undefined> {
    const { signal } = this.#work;
    const stop = () => this.#stop();
    if (signal.aborted) this.#stopped = true;
    else signal.addEventListener('abort', stop, { once: true });
    this.#advance();
    return this.#done.promise.finally(() => signal.removeEventListener('abort', stop));
  }

  /** Releases the claims of messages not yet in flight. Unlike the signal, it lets `extend` claim again. */
  release(): void {
    if (this.#stopped) return;
    this.#releaseWaiting();
    this.#exhausted = true;
    this.#extendLater();
    this.#advance();
  }

  /** Starts whatever can run now. Called after every state change. */
  #advance(): void {
    this.#sendWaiting();
    const left = this.#waiting.length - this.#next;
    if (left <= this.#claimThreshold() && this.#mayClaim) void this.#claimPage();
    if (this.#outcomes.length >= MAIL_POLICY.pipeline.settleRows) void this.#settle();
    if (this.#claiming || this.#settling || this.#inFlight > 0 || left > 0) return;
    if (this.#outcomes.length > 0 && this.#canSettle) return void this.#settle();
    if (this.#exhausted || this.#stopped) this.#end();
  }

  /** Goes on with other messages while the server takes long for some, unless those are all that may be in flight. */
  #extendLater(): void {
    const { extend } = this.#work;
    if (extend === undefined || this.#stopped) return;
    clearTimeout(this.#stallTimer);
    this.#stallTimer = setTimeout(async () => {
      if (this.#stopped || this.#inFlight === 0) return;
      const isExtended = this.#inFlight < this.#width() && (await extend().catch(() => false));
      if (this.#stopped || this.#inFlight === 0) return;
      if (!isExtended) return this.#extendLater();
      this.#exhausted = false;
      this.#advance();
    }, MAIL_POLICY.pipeline.stalledMs);
  }

  get #mayClaim(): boolean {
    return (
      !this.#exhausted &&
      !this.#stopped &&
      !this.#claiming &&
      this.#outcomes.length <= MAIL_POLICY.pipeline.maxUnrecorded
    );
  }

  #end(): void {
    clearTimeout(this.#settleTimer);
    clearTimeout(this.#stallTimer);
    this.#bucket.stop();
    if (this.#failure === undefined) this.#done.resolve(this.#backoff);
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
      this.#checkBackoff(outcome);
      const settlement =
        subject === undefined ? settlementOf(row, outcome) : { ...settlementOf(row, outcome), subject };
      this.#work.journal?.answered(settlement);
      return settlement;
    } catch (error) {
      if (error instanceof MessageError) return { id: row.id, state: 'failed', answer: error.message };
      if (!isOutage(error)) {
        logger.error({ err: error, messageId: row.id }, 'failed to send message');
        return settlementOfError(row, error);
      }
      this.#fail(error);
      return { id: row.id, state: 'planned', answer: null };
    }
  }

  #settleSoon(): void {
    this.#settleTimer ??= setTimeout(() => void this.#settle(), MAIL_POLICY.pipeline.settleMs);
  }

  #checkBackoff(outcome: SendOutcome): void {
    const { answer } = outcome;
    if (outcome.kind === 'deferred' && outcome.scope === 'host') {
      this.#backoff ??= { cause: 'host', answer, waitMs: outcome.waitMs };
    } else if (outcome.kind === 'refused' && outcome.verdict === 'configuration') {
      this.#backoff = { cause: 'configuration', answer };
    } else return;
    this.#stop();
  }

  /** Releases claims of messages not yet in flight; those in flight complete. */
  #stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#releaseWaiting();
    this.#advance();
  }

  #releaseWaiting(): void {
    for (const { id } of this.#waiting.slice(this.#next)) this.#outcomes.push({ id, state: 'planned', answer: null });
    if (this.#outcomes.length > 0) this.#settleSoon();
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
      if (rows.length === 0) {
        this.#exhausted = true;
        this.#extendLater();
      }
      if (this.#stopped) this.#releaseWaiting();
    } catch (error) {
      this.#fail(error);
    }
    this.#claimMs = performance.now() - claimedAt;
    this.#claiming = false;
    this.#advance();
  }

  /** Claim the next page when this many rows are left: what is sent in twice the time that the last claim took. */
  #claimThreshold(): number {
    return Math.min(this.#pageSize, Math.max(this.#pageSize / 4, this.#sendRate * this.#claimMs * 2));
  }

  #smallestPage(): number {
    return Math.min(MAIL_POLICY.pipeline.minPage, this.#width() * 2);
  }

  /** The rows sent within `pageMs` at the current rate. A crash leaves every claimed row unknown, so no more are claimed. */
  #limit(): number {
    const now = performance.now();
    if (this.#pageStartedAt > 0) {
      this.#sendRate = this.#finished / Math.max(1, now - this.#pageStartedAt);
      this.#pageSize = Math.round(
        Math.min(
          MAIL_POLICY.pipeline.maxPage,
          this.#pageSize * 4,
          Math.max(this.#smallestPage(), this.#sendRate * MAIL_POLICY.pipeline.pageMs),
        ),
      );
    }
    this.#pageStartedAt = now;
    this.#finished = 0;
    return Math.min(this.#pageSize, this.#bucket.most(MAIL_POLICY.pipeline.pageMs * 4));
  }

  async #settle(): Promise<void> {
    clearTimeout(this.#settleTimer);
    this.#settleTimer = undefined;
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
