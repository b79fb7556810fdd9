const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * The numbers that tune the sending of mail, by campaigns and by transactional mail. Names end in their unit; those
 * without one are counts. The specification names none of them. `measured` refers to docs/benchmarks/history.md; a number
 * without a measurement is a judgement, for the reason it states. The rules for each mail provider are tables of their
 * own, in packages/smtp/src/reply-rules.ts and modules/transports/src/provider-limits.ts.
 */
export const MAIL_POLICY = {
  /** The pipeline that claims, sends and records, for campaigns and transactional mail alike. */
  pipeline: {
    /**
     * How long a page should last. Pages are short, so that few messages are claimed, and become unknown, when a worker is
     * killed. Measured only with the early claim of the next page: connections idle 6 % of the time, instead of 25 %.
     */
    pageMs: 60,
    /** Rows of the largest page. Bounds memory: a million recipients take 294 MB (measured). */
    maxPage: 1_000,
    /** Rows of the smallest page, which a slow server gets. Not measured. */
    minPage: 20,
    /** Outcomes are recorded once this many have accumulated. Measured only as 250: 15.5 µs of PostgreSQL per message. */
    settleRows: 400,
    /** Outcomes are recorded at the latest this long after the first of them. Measured at 400 messages a second: 390 µs of PostgreSQL per message, and 463 with 25. */
    settleMs: 100,
    /**
     * Claiming pauses above this many unrecorded outcomes: backpressure for a database slower than the mail server.
     * Measured: without it, a million recipients took up to 541 MB.
     */
    maxUnrecorded: 2_000,
    /** After its time is up, a run that waits this long for the mail server's replies goes on with other messages. Not measured. */
    stalledMs: 1_000,
    /** A campaign says that its mail server does not reply after this time. Servers may delay their greeting against spam. Not measured. */
    silentMs: 15_000,
    /** Delays between attempts to record outcomes, about a minute: a database restart. Not measured. */
    retryDelaysMs: [100, 250, 500, 1_000, 2_000, 2_000, 5_000, 5_000, 5_000, 10_000, 10_000, 15_000],
  },

  /** How far messages may be claimed, as witnesses outside of the database know (docs/decisions/restore.md). */
  reservation: {
    /** How long a reservation lasts. Within it, a restored copy of the disk may go unnoticed if nothing else is sent. Not measured. */
    validMs: 15_000,
    /** It is renewed this long before it ends. */
    renewMs: 5_000,
    /** Messages of a campaign are reserved for about this long. Not measured. */
    blockMs: 500,
    /** The fewest messages of a campaign that are reserved at a time. Not measured. */
    minBlock: 200,
    /** The most messages of a campaign that are reserved at a time. Not measured. */
    maxBlock: 50_000,
    /** Of a long queue of transactional mail, this many messages are reserved at a time. Not measured. */
    queueBlock: 2_000,
    /** A process that sends compares the database with its witnesses this often. Not measured. */
    compareMs: 60_000,
  },

  /** Messages that a server asks to retry later. */
  deferral: {
    /** Delays after each deferral, unless the server names one; the last repeats. Early ones suit greylisting. Not measured. */
    delaysMs: [MINUTE_MS / 4, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS],
    /** How long a message may be deferred before it fails. RFC 5321 suggests four to five days. Not measured. */
    lifetimeMs: 72 * HOUR_MS,
    /** Attempts of a message that keeps failing with unexpected errors, which are faults of ours. Not measured. */
    maxUnexpected: 4,
    /** Backoff of a message whose sender's transport is failing and names no time. Not measured. */
    transportMs: MINUTE_MS,
  },

  softBounces: {
    /** Consecutive soft bounces that suppress an address: a mailbox that is always full is abandoned. Not measured. */
    max: 5,
    /** Mail accepted this long ago without a bounce counts as delivered, since not every server reports deliveries. */
    deliveredAfter: '3 days',
  },

  campaign: {
    /** How long a run claims new pages. Short runs keep the progress shown by the workflow current. Not measured. */
    runMs: 15_000,
    /**
     * The longest time that a run claims pages, because a server has not replied to a message. Together with the longest timeout of SMTP,
     * less than the 30 minutes that the workflow allows.
     */
    maxRunMs: 10 * MINUTE_MS,
    /** How often a run looks whether the campaign was paused or canceled, while the mail server keeps it waiting. Not measured. */
    statusPollMs: 1_000,
    /** A campaign waiting for the next day of a warm-up rechecks this often, because the plan may change. Not measured. */
    warmupRecheckMs: 15 * MINUTE_MS,
    /** Minimum interval between notifications of one campaign; its readers read the current state. Not measured. */
    noticeIntervalMs: 250,
    /** How often counters are checked for reports that arrive while nothing is being claimed. Not measured. */
    monitorIntervalMs: 5_000,
    /** The same while a campaign is being sent: at 18,000 messages a second every second counts. Not measured. */
    sendingMonitorIntervalMs: 1_000,
    /** Bounces and complaints reported this long after completion still count against the sender. Not measured. */
    reportingWindow: '7 days',
    /** How long a progress subscription stays open for delivery reports after its campaign has ended. Not measured. */
    lingerMs: 10_000,
    /** How often a progress subscription reads the row, in case a notification was missed. Not measured. */
    progressPollMs: 2_000,
  },

  /** Ranges of a campaign that other workers send alongside its run (docs/decisions/campaign-shards.md). */
  shard: {
    /** A campaign with fewer messages left is sent by its run alone. Not measured. */
    minLeft: 5_000,
    /**
     * So is one whose worker uses fewer cores: its CPU is not the limit. On two cores that PostgreSQL and the mail server share, a
     * worker gets 0.65 to 0.85 of one (measured) once it has compiled its code, and further workers would share them.
     */
    minCores: 0.9,
    /** Shards of one campaign, each in another worker. Not measured. */
    max: 16,
    /** A range lasts for about this long, so that no shard is much later than the others. Not measured. */
    rangeMs: 1_000,
    /** The fewest messages of a range. Not measured. */
    minRange: 200,
    /** The most messages of a range. Not measured. */
    maxRange: 50_000,
    /** How long a shard takes new ranges: Temporal needs up to a second to find a worker for the next one. Not measured. */
    runMs: 60_000,
    /** Messages that may be in flight to the mail server for each shard; with less, shards would take each other's connections. Not measured. */
    minWidth: 8,
    /** How long a shard lasts unless it is renewed: together with the interval below, less than the five seconds of a takeover. */
    leaseMs: 3_000,
    /** How often it is renewed and its counters are added to the campaign's, and how often the run looks for ended ones. Not measured. */
    renewMs: 1_000,
  },

  /** The dispatcher of transactional mail (docs/decisions/transactional-mail.md). */
  dispatch: {
    /** Messages assigned to one workflow. Measured: 257 a second, which is why more than a few use a queue drain. */
    batchSize: 100,
    /** If at most this many messages of a project wait, each may get its own workflow, at 75 ms of CPU (measured). */
    maxIndividual: 5,
    /** Individual workflows a second: two cores manage 20 (measured), and have other work. */
    individualPerSecond: 5,
    /** Individual workflows at once. Not measured. */
    individualBurst: 10,
    /** Concurrent queue drains; each occupies a worker slot. The mail of further projects is sent in batches. Not measured. */
    maxDrains: 40,
    /** Workflows started per round. Not measured. */
    startsPerRound: 20,
    /** Open workflows in total: a mail server that is down must not flood Temporal. Not measured. */
    maxOpen: 1_000,
    /** Open workflows of one project: each may hold a worker slot as long as its mail server takes. Not measured. */
    maxOpenPerProject: 50,
    /** Open workflows of one mailbox account, whose mail may wait hours for its cap. Not measured. */
    maxOpenPerMailbox: 5,
    /** Projects checked per round; the next round continues after the last of them. Not measured. */
    projectsPerRound: 100,
    /** Time between rounds while a queue drain runs, since it claims its mail without the dispatcher. Not measured. */
    roundMs: 50,
    /** How long after they were assigned messages are checked for a lost workflow, and again. Not measured. */
    reconcileAfter: '1 minute',
  },

  /** Queue drains: one workflow that claims a project's queued mail. */
  drain: {
    /** The length of one run: its workflow shows progress after each. Not measured. */
    runMs: 20_000,
    /** The longest time that a run claims mail, because a server has not replied to a message: as for campaigns. */
    maxRunMs: 10 * MINUTE_MS,
    /** A drain ends if no message, or only a few, arrived in a window of this length. Not measured. */
    windowMs: 3_000,
    /** What counts as few. Well below the rate that starts a drain, so that drains do not flap. Not measured. */
    lowVolume: 7,
    /** Time between claims, so that messages accumulate into one. Measured: at 200 a second mail leaves 18 ms after its commit. */
    claimIntervalMs: 25,
    /** Rows per claim, since their content is read into memory. Not measured. */
    maxClaimed: 200,
    /** A drain that found mail this recently claims again without a notification, since a process sends at most 20 a second. Not measured. */
    busyMs: 100,
    /** Polling interval, for lost notifications and for scheduled mail that becomes due. Not measured. */
    pollMs: 1_000,
    /** How long a drain holds its lease without renewing it; then another may take over. Not measured. */
    leaseMs: 10_000,
    /** How often it renews the lease: five times before it expires. */
    renewMs: 2_000,
    /** The longest backoff of the workflow, which the lease must outlast. It is the last delay of workflows/src/send-burst.ts. */
    maxBackoffMs: MINUTE_MS,
  },
} as const;
