/** How long to wait, in milliseconds, at each step of a dialogue. */
export interface Timeouts {
  /** For the TCP connection, and for TLS. */
  readonly connectMs: number;
  readonly greetingMs: number;
  /** For each reply that has no time of its own here: EHLO, AUTH, MAIL, RCPT, RSET. */
  readonly commandMs: number;
  readonly dataMs: number;
  /** For each block of a long message to leave. */
  readonly blockMs: number;
  /** For the reply to the final dot. Giving up early makes messages whose fate nobody knows. */
  readonly finalMs: number;
  /** How long a connection that has nothing to send is kept. */
  readonly idleMs: number;
  readonly quitMs: number;
}

const MINUTE_MS = 60_000;

/** RFC 5321 §4.5.3.2, which names all but the first and the last two. */
export const TIMEOUTS: Timeouts = {
  connectMs: MINUTE_MS / 2,
  greetingMs: 5 * MINUTE_MS,
  commandMs: 5 * MINUTE_MS,
  dataMs: 2 * MINUTE_MS,
  blockMs: 3 * MINUTE_MS,
  finalMs: 10 * MINUTE_MS,
  idleMs: MINUTE_MS / 2,
  quitMs: MINUTE_MS / 12,
};
