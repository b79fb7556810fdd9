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
