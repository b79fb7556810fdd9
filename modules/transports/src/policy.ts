const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const KB = 1024;

/**
 * The numbers that tune transports. Names end in their unit; those without one are counts. None has been measured: each is a
 * judgement, for the reason it states. Limits of mail providers are in provider-limits.ts, and those of SMTP in `SMTP_POLICY` of
 * @postroom/smtp.
 */
export const TRANSPORT_POLICY = {
  /** Cooldowns of a transport after a failure, while mail fails over to the next one. */
  cooldown: {
    /** After it rejected our settings: only a user can fix that. */
    refusedMs: 5 * MINUTE_MS,
    /** After it was unreachable and named no delay: a restart takes seconds. */
    unreachableMs: 5 * SECOND_MS,
  },

  /** The route of a sender is cached, so that sending a message needs no query. Changed settings apply after this time. */
  routes: { cacheMs: 5 * SECOND_MS, max: 1_000 },

  /**
   * A process reserves the sends of a rate this far in advance, so that it asks the database a few times a second at most. What a
   * killed process has reserved is lost.
   */
  rateAheadMs: SECOND_MS / 2,

  /** A transport unused for this long is closed: its provider was deleted, or rarely sends. Longer than any send run. */
  idleMs: HOUR_MS,

  /** Timeouts of connection tests, which a user waits for. */
  test: { connectMs: 8 * SECOND_MS, greetingMs: 8 * SECOND_MS, commandMs: 8 * SECOND_MS },

  ses: {
    connectMs: 10 * SECOND_MS,
    /** SES usually responds in 100 ms; giving up early leaves messages with an unknown outcome. */
    responseMs: 2 * MINUTE_MS,
    /** Responses are a few KB. */
    maxResponseBytes: KB * KB,
    /** Idle connections are closed after this time, since the server may close a long-idle one just as it is reused. */
    keepAliveMs: 15 * SECOND_MS,
    /** Connections: 64 requests of 100 ms are 640 messages a second, more than most accounts may send. */
    maxSockets: 64,
    /** How long the account's rate is cached: AWS raises it at most daily. */
    rateCacheMs: 5 * MINUTE_MS,
    /** Messages per second until the rate is known: that of a new account. */
    minPerSecond: 1,
    /** Rate multiplier after throttling, until the rate is read again. */
    throttleFactor: 0.8,
    /** SNS messages are at most 256 KB. */
    maxNotificationBytes: 300 * KB,
    /** Timeout for fetching certificates and confirming subscriptions; SNS waits 15 s for our response. */
    snsFetchMs: 8 * SECOND_MS,
    /** How long message ids are kept for deduplication; SNS doesn't redeliver later. */
    notificationRetention: '7 days',
  },

  mailboxes: {
    /** Maximum wait for quota. Beyond it the message is deferred instead of occupying a connection. */
    maxQuotaWaitMs: 10 * SECOND_MS,
    /** An exhausted daily cap is rechecked at least this often, because a user may raise it. */
    maxCapWaitMs: HOUR_MS,
    /** Cooldown of an account that needs attention: further sign-in attempts could lock it. */
    attentionMs: 5 * MINUTE_MS,
    /** Access tokens aren't used this long before they expire, so they don't expire during authentication. */
    tokenMarginMs: MINUTE_MS,
    /** Timeout of token requests; sending waits for them. */
    tokenMs: 10 * SECOND_MS,
    /** How long a user has to consent. */
    consentMs: 15 * MINUTE_MS,
  },
} as const;
