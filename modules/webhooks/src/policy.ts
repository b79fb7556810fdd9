/** Attempts per batch; other numbers are multiples of it. */
const BATCH_SIZE = 600;

/**
 * The numbers that tune webhook delivery. Names end in their unit; those without one are counts. `measured` refers to
 * docs/benchmarks/history.md, section Webhooks; a number without a measurement is a judgement, for the reason it states.
 */
export const POLICY = {
  attempt: {
    /** Deadline for the whole exchange: DNS, connection, TLS, status, headers and body (spec: Delivery). */
    deadlineMs: 10_000,
    /** A 2xx status acknowledges by itself (spec: Delivery). What follows, kept for display, has this long. Not measured. */
    bodyGraceMs: 1_000,
    /** Bytes kept of a response body; the rest is discarded. Enough to recognize an error page. Not measured. */
    responseBytes: 4_096,
    /** Attempts of a delivery, after which it fails (spec: Limits). */
    max: 6,
    /** Delays between the attempts (spec: Reliability). */
    retryDelaysMs: [60_000, 300_000, 1_800_000, 7_200_000, 21_600_000],
    /** Fraction added to each delay at random, so that simultaneous failures do not retry simultaneously. Not measured. */
    jitter: 0.1,
  },

  batch: {
    /**
     * A batch costs Temporal as much as one delivery, whatever its size. Measured with 300, 600 and 1,000: 2,409, 3,776
     * and 3,613 deliveries a second to fifty endpoints.
     */
    size: BATCH_SIZE,
    /** Demand that justifies an endpoint's own batch; smaller ones share. Measured only together with sharing itself. */
    ownMin: BATCH_SIZE / 2,
    /** How long a partly filled batch may fill up. Measured at 100 events a second: a p99 of 90 ms for 8.8 ms of CPU; 119 and 6.4 with 75. */
    lingerMs: 50,
    /** A batch starts no POSTs after this time, so that it ends soon and its worker can shut down. Not measured. */
    startWindowMs: 5_000,
    /** How often a batch looks whether it has been stopped, while others make as many requests to an endpoint as it may get. */
    slotWaitMs: 1_000,
    /** Concurrent POSTs to one endpoint: few at first, so that one that hangs holds few. Not measured. */
    initialConcurrency: 10,
    /** Each acknowledgement adds one, up to this. Measured: by themselves, 32 at once make 12,000 POSTs a second or more. */
    maxConcurrency: 32,
    /** Results are written in portions of this size: unwritten ones are posted again after a crash. Not measured. */
    flushSize: 100,
    /** Smaller portions are written after this time. Not measured. */
    flushIntervalMs: 150,
  },

  individual: {
    /** Deliveries a second that get their own workflow, as long as nothing has been observed. Not measured. */
    initialPerSecond: 25,
    /** Limits of what is learned. Not measured. */
    minPerSecond: 5,
    maxPerSecond: 1_000,
    /** The longest wait for Temporal: beyond it, first attempts are batched. */
    maxWaitMs: 2_000,
    /** If all waited for less than this, Temporal can take more. Not measured. */
    calmWaitMs: 500,
    /** How the rate adapts, once a second. Not measured. */
    growth: 1.25,
    shrinkage: 0.7,
    adaptIntervalMs: 1_000,
    /** An attempt that another process has begun ends within this time. */
    attemptEndsMs: 12_000,
  },

  dispatch: {
    /**
     * First attempts claimed per round, and retries. None is posted before all are claimed. Measured with 10 batches: 390 ms in
     * which nothing was posted, and 4,027 deliveries a second instead of 4,556.
     */
    maxClaimedPerRound: 3 * BATCH_SIZE,
    /**
     * Retries in flight over all endpoints, as a share of WEBHOOK_MAX_IN_FLIGHT and besides it: neither kind waits for the other.
     * Not measured.
     */
    retryShare: 0.25,
    /** Endpoints read per round; the next round continues after the last. Bounds the cost of a round. Not measured. */
    endpointsPerRound: 200,
    /** Endpoints with less demand than this are served first, since they delay the others least. Not measured. */
    smallBelow: 25,
    /** Due retries are dispatched at this interval, so that they share batches. The first delay is a minute. Not measured. */
    retryIntervalMs: 500,
    /** Deliveries that leave a batch which kept failing continue individually, at this interval. Not measured. */
    splitIntervalMs: 50,
    /** How often endpoints without traffic are forgotten. Not measured. */
    forgetIntervalMs: 10_000,
    /** A round reads the deliveries of this time only, usually one or two partitions: the last retry is 9 hours after the first attempt. */
    recentMs: 3 * 24 * 60 * 60 * 1000,
    /** How often older ones are looked for, such as those of an endpoint that was enabled again. Not measured. */
    sweepIntervalMs: 5_000,
  },

  endpoint: {
    /** First attempts in flight until it is seen to acknowledge, so that one that hangs holds up little. Not measured. */
    maxInFlightInitial: 10,
    /** First attempts in flight once it has been seen to acknowledge: what one round claims. */
    maxInFlightHealthy: 3 * BATCH_SIZE,
    /** It counts as healthy for this long after it was seen to acknowledge. Not measured. */
    healthyMs: 10_000,
    /** It is degraded from this many consecutive failures: it gets little until it acknowledges again. Not measured. */
    degradedAfter: 10,
    /**
     * Deliveries in flight to a degraded endpoint. Measured: while 10 of 100 endpoints hang and 10 refuse connections, the
     * others keep 1.03 times their rate.
     */
    maxInFlightDegraded: 10,
    /** Beyond them, a degraded endpoint gets one probe per interval. Not measured. */
    probeIntervalMs: 30_000,
    /** Concurrent POSTs to it while it is degraded, whatever WEBHOOK_REQUESTS_PER_ENDPOINT says. Not measured. */
    maxConcurrentDegraded: 4,
    /** It is disabled after failing continuously for this long (spec: Reliability, which names no number). */
    disableAfterMs: 3 * 24 * 60 * 60 * 1_000,
    /** It is also disabled after this many consecutive failed deliveries over at least the time below. */
    disableAfterFailures: 100,
    disableAfterFailuresMs: 60 * 60 * 1_000,
    /** Its state follows the share of failed attempts in this many hours, the current one included (docs/reference/webhooks.md). */
    stateWindowHours: 24,
    /** It is shown as degraded from this share of failed attempts: more than a retry now and then. Not measured. */
    degradedShare: 0.05,
    /** It is shown as failing from this share: most of what is sent is not received. Not measured. */
    failingShare: 0.5,
    /** How long the previous secret keeps signing after a rotation: a day to deploy the new one. Not measured. */
    rotationOverlapMs: 24 * 60 * 60 * 1_000,
  },

  reconcile: {
    /** Deliveries are checked for a lost workflow when they are overdue by more than an attempt can take. */
    overdue: '15 seconds',
  },

  stream: {
    /** A reader of attempts or deliveries reads at most this often. Not measured. */
    minIntervalMs: 250,
    /** A reader of attempts reads at least this often. Not measured. */
    maxIntervalMs: 5_000,
    /** A reader of deliveries gets this many of the latest in a burst. Not measured. */
    deliveriesPerRead: 50,
    /** Deliveries per page when it catches up. Not measured. */
    missedPageSize: 200,
    /** An attempt is written after it ended, at most this long after its start: its deadline, and a slow database. */
    maxWriteDelayMs: 30_000,
  },

  retention: {
    /** Rows per DELETE. Small batches keep locks short and cancellation prompt. Not measured. */
    batchSize: 1_000,
    /** How long a disabled endpoint's backlog is kept. Not measured. */
    backlogDays: 7,
    /** How long hourly counts of attempts are kept: beyond the window of an endpoint's state. */
    hoursDays: 2,
  },
} as const;

/** How an attempt is made, also by other modules. */
export const ATTEMPT = POLICY.attempt;
