/** Timeouts for each step of an SMTP session, in milliseconds. */
export interface Timeouts {
  /** For the TCP connection and the TLS handshake, each. */
  readonly connectMs: number;
  readonly greetingMs: number;
  /** For every reply without its own timeout: EHLO, AUTH, MAIL, RCPT, RSET. */
  readonly commandMs: number;
  readonly dataMs: number;
  /** For writing each block of a long message. */
  readonly blockMs: number;
  /** For the final reply. Giving up early leaves messages with an unknown outcome. */
  readonly finalMs: number;
  /** How long an idle connection is kept open. */
  readonly idleMs: number;
  readonly quitMs: number;
}

const MINUTE_MS = 60_000;

/** Defaults from RFC 5321 §4.5.3.2, except `connectMs`, `idleMs` and `quitMs`, which it does not specify. */
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
