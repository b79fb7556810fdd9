import { MessageError, wireAddress } from '@postroom/mime';
import type { Abilities } from './handshake.ts';
import { oneLine } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import { dotStuff } from './dot-stuffing.ts';

/** A message and where it goes: one recipient, so that it has one outcome. */
export interface SmtpMessage {
  /** The return path; '' for a message that must not bounce. */
  readonly from: string;
  readonly to: string;
  /** Headers and body. A string that isn't `stuffed` is encoded as UTF-8. */
  readonly data: string | Uint8Array;
  /**
   * `data` is a string of one character per octet, with CRLF line ends (one at its end) and no line that begins with a dot,
   * as a frame renders it. It goes out unread, since reading a string that was just spliced would copy it.
   */
  readonly stuffed?: boolean | undefined;
  /** Whose it is: the messages of different projects that wait for a connection take turns. */
  readonly projectId?: string | undefined;
  /**
   * Asks the server, where it can (RFC 3461), to report to `from` what becomes of the message, under this id of letters, digits
   * and underscores. For messages whose reports somebody reads.
   */
  readonly reportAs?: string | undefined;
}

/** A message that is ready to go over any wire. */
export interface Prepared {
  readonly from: string;
  readonly to: string;
  /** One character per octet, dot-stuffed, ending with CRLF. */
  readonly data: string;
  /** Whether a dot was doubled. */
  readonly dotted: boolean;
  readonly eightBit: boolean;
  /** Whether an address or a header holds more than ASCII. */
  readonly utf8: boolean;
  /** The id under which a report on it is asked for. */
  readonly reportAs: string | undefined;
}

/** Checks and encodes a message; one that no server could take is refused here. */
export function prepare({ from, to, data, stuffed, reportAs }: SmtpMessage): Prepared | SendOutcome {
  try {
    const sender = from === '' ? { octets: '', utf8: false } : wireAddress(from, 'from');
    const recipient = wireAddress(to, 'to');
    const utf8 = sender.utf8 || recipient.utf8;
    if (stuffed && typeof data === 'string') {
      return { from: sender.octets, to: recipient.octets, data, dotted: false, eightBit: utf8, utf8, reportAs };
    }
    const text = dotStuff(data);
    const firstHigh = text.search(/[\u0080-\u00ff]/);
    const highHeader = firstHigh !== -1 && firstHigh < (text.indexOf('\r\n\r\n') + 1 || Infinity);
    return {
      from: sender.octets,
      to: recipient.octets,
      data: text,
      dotted: text.startsWith('.') || text.includes('\n.'),
      eightBit: utf8 || firstHigh !== -1,
      utf8: utf8 || highHeader,
      reportAs,
    };
  } catch (error) {
    if (error instanceof MessageError) return { kind: 'refused', answer: oneLine(error.message), verdict: 'content' };
    throw error;
  }
}

/** Why a server can't take a message, by what it says of itself. */
export function unfit(message: Prepared, abilities: Abilities): SendOutcome | undefined {
  const refuse = (answer: string): SendOutcome => ({ kind: 'refused', answer, verdict: 'content' });
  if (message.data.length > abilities.size) {
    return refuse(`The message has ${message.data.length} bytes; the server takes ${abilities.size}.`);
  }
  if (message.utf8 && !abilities.smtpUtf8) return refuse('The server takes no addresses beyond ASCII (SMTPUTF8).');
  if (message.eightBit && !abilities.eightBitMime && !message.utf8)
    return refuse('The server takes no 8-bit text (8BITMIME).');
  return undefined;
}

/** `MAIL FROM:…` with its line break. */
export function mailCommand(message: Prepared, abilities: Abilities): string {
  let command = `MAIL FROM:<${message.from}>`;
  if (abilities.announcesSize) command += ` SIZE=${message.data.length}`;
  if (message.eightBit && abilities.eightBitMime) command += ' BODY=8BITMIME';
  if (message.utf8) command += ' SMTPUTF8';
  if (asksForReport(message, abilities)) command += ` RET=HDRS ENVID=${message.reportAs}`;
  return `${command}\r\n`;
}

/** `RCPT TO:…` with its line break. */
export function rcptCommand(message: Prepared, abilities: Abilities): string {
  let command = `RCPT TO:<${message.to}>`;
  if (asksForReport(message, abilities)) {
    command += ' NOTIFY=SUCCESS,FAILURE';
    // An address beyond ASCII would need another form (RFC 6533), which fewer servers know; this parameter may be left out.
    if (!message.utf8) command += ` ORCPT=rfc822;${xtext(message.to)}`;
  }
  return `${command}\r\n`;
}

/** Without a return path there is nobody to report to. */
const asksForReport = ({ from, reportAs }: Prepared, { dsn }: Abilities) =>
  dsn && reportAs !== undefined && from !== '';

/** RFC 3461, section 4. */
const xtext = (text: string) =>
  text.replace(/[^!-*,-<>-~]/g, (char) => `+${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
