import type { Traffic } from './smtp-pools.ts';
import type { TransportKind } from './metrics.ts';
import type { SendOutcome, SmtpMessage } from '@postroom/smtp';

/** A message to send, with the id of its row. */
export interface OutgoingMessage extends SmtpMessage {
  readonly id: string;
  /** The From address, whose domain signs the message; defaults to the envelope sender. */
  readonly signAs?: string | undefined;
}

/** Sends mail through a relay, Amazon SES or a mailbox account. It sends each message once and reports the outcome; it never retries. */
export interface Transport {
  readonly id: string;
  readonly kind: TransportKind;
  /** How many messages to submit concurrently. */
  readonly width: number;
  /** What we sign: everything, everything but the fields that the transport rewrites, or nothing, because its server signs. */
  readonly signing: 'whole' | 'without date and id' | 'none';
  send: (message: OutgoingMessage, traffic: Traffic) => Promise<SendOutcome>;
  /** Drains and closes the transport. */
  close: () => Promise<void>;
}
