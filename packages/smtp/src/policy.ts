const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const KB = 1024;

/**
 * The numbers that tune the client. Names end in their unit; those without one are counts. A number without a source or a
 * measurement is a judgement, for the reason it states. The rules for each provider's replies are in reply-rules.ts.
 */
export const SMTP_POLICY = {
  /** Defaults of the options of `createSmtpPool`. */
  pool: {
    /** Connections per server. Postfix accepts 50 from one client (`smtpd_client_connection_count_limit`), others fewer. */
    connections: 10,
    /** Messages per connection. Replacing connections now and then spreads them over the hosts behind one name. */
    maxMessagesPerConnection: 1_000,
    /** Backoff between connection attempts to an unreachable server; the last delay repeats. A restart takes seconds. */
    reconnectDelaysMs: [1, 2, 5, 15, 30, 60].map((seconds) => seconds * SECOND_MS),
  },

  /** Timeouts of each step. RFC 5321 §4.5.3.2, except for those that it does not specify. */
  timeouts: {
    /** Not in the RFC: TCP gives up after minutes, and no healthy server takes this long. */
    connectMs: 30 * SECOND_MS,
    greetingMs: 5 * MINUTE_MS,
    commandMs: 5 * MINUTE_MS,
    dataMs: 2 * MINUTE_MS,
    blockMs: 3 * MINUTE_MS,
    finalMs: 10 * MINUTE_MS,
    /** Not in the RFC: many servers close idle connections after a minute, and sending on a closed one costs a retry. */
    idleMs: 30 * SECOND_MS,
    /** Not in the RFC: nothing depends on the reply to QUIT. */
    quitMs: 5 * SECOND_MS,
  },

  /** Several messages in one write, with BDAT (docs/decisions/bdat-batching.md). */
  batch: {
    /** Messages per batch. If the connection fails, that many have an unknown outcome. */
    maxSize: 8,
    /** Batches answered faster than this double in size; those that take more than twice as long are halved. */
    fastReplyMs: 50,
    /** With this many bytes pending, batching no longer increases how many messages a pool takes. Bounds memory. */
    maxPendingBytes: 4 * KB * KB,
  },

  /** Longer messages are written in blocks of this size, so a failure before the last block is known to be incomplete. */
  blockBytes: 64 * KB,
  /** Read buffer of a connection: replies are short, and a pipelined batch has a few of them. */
  readBufferBytes: 16 * KB,

  /** Limits for replies, so that a broken server can't exhaust memory or the CPU. Real replies have fewer than 20 lines and 2 KB. */
  replies: { maxLines: 200, maxLineBytes: 16 * KB, maxBytes: 32 * KB },

  /** How long to back off after a refusal whose rule states no time. */
  waits: {
    /** Providers that throttle lift it within minutes. */
    throttleMs: 5 * MINUTE_MS,
    /** Greylisting usually accepts a retry after five minutes. */
    greylistMs: 10 * MINUTE_MS,
  },
} as const;
