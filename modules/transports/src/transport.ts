import type { Traffic } from './smtp-pools.ts';
import type { SendOutcome, SmtpMessage } from '@postroom/smtp';

/** A message on its way out, with the id of its row. */
export interface OutgoingMessage extends SmtpMessage {
  readonly id: string;
  /** The address of its From, whose domain signs it; that of the envelope unless given. */
  readonly signAs?: string | undefined;
}

/**
 * A way for mail to go out: a relay, Amazon SES, a mailbox account. It sends a message once and tells what became of it, in
 * the words of the ledger; it never sends again by itself.
 */
export interface Transport {
  readonly id: string;
  /** Messages that are worth giving to it at once. */
  readonly width: number;
  /** What we sign: all fields, all but those that it writes anew, or nothing, since it signs for itself. */
  readonly signing: 'whole' | 'without date and id' | 'none';
  send: (message: OutgoingMessage, traffic: Traffic) => Promise<SendOutcome>;
  /** Finishes what it has. */
  close: () => Promise<void>;
}
