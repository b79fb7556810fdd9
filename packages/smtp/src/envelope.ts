import { cleanLine } from '@postroom/errors';
import { MessageError, wireAddress } from '@postroom/mime';
import type { ServerCapabilities } from './handshake.ts';
import type { SendOutcome } from './outcome.ts';
import { dotStuff } from './dot-stuffing.ts';

/** Notes which messages a server may have received completely, so that this is known after the process was killed. */
export interface SendJournal {
  /** The last octet of a message is about to be written. */
  writing(messageId: string): void;
  /** Stores the notes; called before the write. */
  flush(): void;
}

/** A message and its envelope. It has a single recipient, hence a single outcome. */
export interface SmtpMessage {
  /** The envelope sender; '' for a message that must not bounce. */
  readonly from: string;
  readonly to: string;
  /** Headers and body. A string is encoded as UTF-8 unless it is already `stuffed`. */
  readonly data: string | Uint8Array;
  /**
   * Promises that `data` is one character per octet, uses CRLF line endings (including one at the end) and has no line
   * starting with a dot, as `compileMessage` renders it. Such data is sent without being scanned, which would flatten and
   * copy a freshly concatenated string.
   */
  readonly stuffed?: boolean | undefined;
  /** Fairness key: messages of different projects waiting for a connection take turns. */
  readonly projectId?: string | undefined;
  /**
   * Requests delivery status notifications to `from` with this ENVID, if the server supports DSN (RFC 3461). Letters, digits
   * and underscores only. Set it only if something reads the notifications.
   */
  readonly reportAs?: string | undefined;
  /** The message's id in its journal. */
  readonly id?: string | undefined;
  readonly journal?: SendJournal | undefined;
  /** Whether it shall still be sent. A message that waits for a connection is released once it shall not. */
  readonly isWanted?: (() => boolean) | undefined;
}

/** A validated and encoded message, ready to send on any connection. */
export interface PreparedMessage {
  readonly from: string;
  readonly to: string;
  /** One character per octet, dot-stuffed, ending with CRLF. */
  readonly data: string;
  /** Whether any dot was doubled. */
  readonly dotted: boolean;
  readonly eightBit: boolean;
  /** Whether an address or header contains non-ASCII characters. */
  readonly utf8: boolean;
  /** The ENVID to request delivery status notifications with. */
  readonly reportAs: string | undefined;
  readonly id: string | undefined;
  readonly journal: SendJournal | undefined;
  readonly isWanted: (() => boolean) | undefined;
}

/** Notes that the last octets of messages are about to be written. */
export function recordWriteIntent(messages: readonly Pick<SmtpMessage, 'id' | 'journal'>[]): void {
  for (const { id, journal } of messages) if (id !== undefined) journal?.writing(id);
  for (const { journal } of messages) journal?.flush();
}

/** Validates and encodes a message. Returns a `refused` outcome if no server could accept it. */
export function prepare(message: SmtpMessage): PreparedMessage | SendOutcome {
  const { from, to, data, stuffed, reportAs, id, journal, isWanted } = message;
  try {
    const sender = from === '' ? { octets: '', utf8: false } : wireAddress(from, 'from');
    const recipient = wireAddress(to, 'to');
    const utf8 = sender.utf8 || recipient.utf8;
    if (stuffed && typeof data === 'string') {
      return {
        from: sender.octets,
        to: recipient.octets,
        data,
        dotted: false,
        eightBit: utf8,
        utf8,
        reportAs,
        id,
        journal,
        isWanted,
      };
    }
    const text = dotStuff(data);
    const firstNonAscii = text.search(/[\u0080-\u00ff]/);
    const hasUtf8Header = firstNonAscii !== -1 && firstNonAscii < (text.indexOf('\r\n\r\n') + 1 || Infinity);
    return {
      from: sender.octets,
      to: recipient.octets,
      data: text,
      dotted: text.startsWith('.') || text.includes('\n.'),
      eightBit: utf8 || firstNonAscii !== -1,
      utf8: utf8 || hasUtf8Header,
      reportAs,
      id,
      journal,
      isWanted,
    };
  } catch (error) {
    if (error instanceof MessageError) return { kind: 'refused', answer: cleanLine(error.message), verdict: 'content' };
    throw error;
  }
}

/** Returns why the server can't accept the message, given its advertised extensions; undefined if it can. */
export function unsupportedReason(message: PreparedMessage, capabilities: ServerCapabilities): SendOutcome | undefined {
  const refuse = (answer: string): SendOutcome => ({ kind: 'refused', answer, verdict: 'content' });
  if (message.data.length > capabilities.size) {
    return refuse(`The message is ${message.data.length} bytes; the server accepts at most ${capabilities.size}.`);
  }
  if (message.utf8 && !capabilities.smtpUtf8)
    return refuse('The server does not support non-ASCII addresses (SMTPUTF8).');
  if (message.eightBit && !capabilities.eightBitMime && !message.utf8)
    return refuse('The server does not support 8-bit content (8BITMIME).');
  return undefined;
}

/** The `MAIL FROM` command, with its CRLF. */
export function mailCommand(message: PreparedMessage, capabilities: ServerCapabilities): string {
  let command = `MAIL FROM:<${message.from}>`;
  if (capabilities.announcesSize) command += ` SIZE=${message.data.length}`;
  if (message.eightBit && capabilities.eightBitMime) command += ' BODY=8BITMIME';
  if (message.utf8) command += ' SMTPUTF8';
  if (requestsReport(message, capabilities)) command += ` RET=HDRS ENVID=${message.reportAs}`;
  return `${command}\r\n`;
}

/** The `RCPT TO` command, with its CRLF. */
export function rcptCommand(message: PreparedMessage, capabilities: ServerCapabilities): string {
  let command = `RCPT TO:<${message.to}>`;
  if (requestsReport(message, capabilities)) {
    command += ' NOTIFY=SUCCESS,FAILURE';
    // A non-ASCII address would need the `utf-8` form (RFC 6533), which few servers support. ORCPT is optional.
    if (!message.utf8) command += ` ORCPT=rfc822;${xtext(message.to)}`;
  }
  return `${command}\r\n`;
}

/** Without an envelope sender there is no address to report to. */
const requestsReport = ({ from, reportAs }: PreparedMessage, { dsn }: ServerCapabilities) =>
  dsn && reportAs !== undefined && from !== '';

/** RFC 3461 §4. */
const xtext = (text: string) =>
  text.replace(/[^!-*,-<>-~]/g, (char) => `+${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
