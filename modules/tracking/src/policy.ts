const SECOND_MS = 1_000;

/**
 * The numbers that tune tracking. Names end in their unit; those without one are counts. `measured` refers to
 * docs/benchmarks/history.md; a number without a measurement is a judgement, for the reason it states.
 */
export const TRACKING_POLICY = {
  /** Storing hits. 2,000 a second are stored and classified without slowing the sender (measured). */
  store: {
    /** Hits per statement. Bounds a statement's duration, which the clicks in it wait for. */
    maxBatch: 1_000,
    /** Queued hits: ten seconds at 2,000 a second. Beyond that opens are dropped and links return 503. */
    maxWaiting: 20_000,
    /** Delay before a failed batch of opens is retried. */
    retryMs: SECOND_MS,
    /** Consecutive failures of a batch of opens that are retried: opens are not worth retrying forever. */
    maxRetries: 3,
    /**
     * Hits of one kind on a message that a gateway stores at once, and then per second. The opens of a mail to
     * everyone in a company, and the clicks on a shared link, stay below these; a program that keeps fetching one pixel does not.
     */
    perMessage: { capacity: 100, ratePerSecond: 10 },
    /** Messages whose rates are kept. One that is forgotten begins with its full allowance again. */
    countedMessages: 20_000,
  },

  /** Telling humans from bots (docs/decisions/opens-and-clicks.md). */
  classify: {
    /** How often stored hits are classified: counters should follow within seconds. */
    intervalMs: SECOND_MS,
    /** Hits per transaction. Bounds how long it locks messages that a sender may settle. */
    maxBatch: 2_000,
    /** Hits that a project may have in a transaction however many projects have waiting hits. Few others fill a batch. */
    minShare: 200,
    /** Delay before a hit is classified, so that concurrent hits are stored first. Longer than `burstMs`. */
    afterMs: 3 * SECOND_MS,
    /** Hits this soon after acceptance are a bot's: scanners fetch mail in transit, before anyone can read it. */
    tooSoonMs: 5 * SECOND_MS,
    /** This many different links within `burstMs` are a bot's: humans follow one link at a time. */
    burstLinks: 3,
    burstMs: 2 * SECOND_MS,
  },

  /** Deleting hits older than the event retention. */
  retention: {
    /** Retention is configured in days, so an hour is precise enough. */
    intervalMs: 60 * 60 * SECOND_MS,
    /** Rows per statement. Bounds how long it holds locks. */
    batchSize: 10_000,
  },
} as const;
