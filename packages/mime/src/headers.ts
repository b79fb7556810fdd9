import { wireAddress } from './address.ts';
import type { Mailbox } from './address.ts';
import { encodeWords } from './encoded-words.ts';
import { MessageError } from './errors.ts';

/* eslint-disable no-control-regex -- header values with control characters are rejected */
const MAX_COLUMNS = 76;
/** RFC 5322 §2.1.1, excluding CRLF. */
const MAX_LINE_LENGTH = 998;
/** The most characters of a custom header's value. */
const MAX_HEADER_LENGTH = 4_000;
const PRINTABLE = /^[ -~]*$/;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

const RESERVED =
  /^(from|to|cc|bcc|sender|reply-to|subject|date|message-id|mime-version|content-.*|return-path|received|resent-.*|dkim-signature|arc-.*|authentication-results)$/i;

/** Headers of URLs, in which an encoded word would be taken for one (RFC 2369; RFC 2047, 5). */
const OF_URLS = /^list-(unsubscribe|unsubscribe-post|subscribe|post|owner|help|archive)$/i;
/** Drops comments beyond ASCII from such a header: they are for people, and would have to be encoded one by one. */
const withPlainComments = (value: string) =>
  value.replace(/<[^>]*>|\([^()]*\)/g, (part) => (part.startsWith('<') || PRINTABLE.test(part) ? part : ''));
const hasLongWord = (line: string) => line.split(' ').some((word) => word.length > 900);

/** Why a custom header can't be sent; undefined if it can. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!/^[!-9;-~]{1,70}$/.test(name)) return `${JSON.stringify(name.slice(0, 80))} is not a valid header name.`;
  if (RESERVED.test(name)) return `The header ${name} is set by Postroom.`;
  if (/[\u0000-\u001f\u007f]/.test(value))
    return `The header ${name} contains a line break or another control character.`;
  if (value.length > MAX_HEADER_LENGTH)
    return `The header ${name} is longer than ${MAX_HEADER_LENGTH.toLocaleString('en')} characters.`;
  if (OF_URLS.test(name) && !PRINTABLE.test(withPlainComments(value)))
    return `The header ${name} must be ASCII: percent-encode other characters in its URLs, and write domains in their xn-- form.`;
  if (OF_URLS.test(name) && hasLongWord(value)) return `The header ${name} has a URL of more than 900 characters.`;
  return undefined;
}

/**
 * Formats a custom header, folded and encoded, with its CRLF.
 * @throws MessageError if the name is invalid or reserved, or the value contains a control character.
 */
export function customHeader(name: string, value: string): string {
  const problem = headerProblem(name, value);
  if (problem !== undefined) throw new MessageError(`headers.${name}`, problem);
  return textHeader(name, OF_URLS.test(name) ? withPlainComments(value) : value);
}

/** Formats `Name: text`, folded to 76 columns and encoded where needed, with its CRLF. Control characters become spaces. */
export function textHeader(name: string, text: string): string {
  if (PRINTABLE.test(text) && text.length + name.length + 2 <= MAX_COLUMNS && !/^ | {2}| $|=\?/.test(text)) {
    return `${name}: ${text}\r\n`;
  }
  const line = text.replace(CONTROLS, ' ').replace(/ {2,}/g, ' ').trim();
  const used = name.length + 2;
  // Text that looks like an encoded word must be encoded, or readers would decode it.
  const isPlain = OF_URLS.test(name) || (PRINTABLE.test(line) && !line.includes('=?') && !hasLongWord(line));
  return `${name}: ${isPlain ? foldWords(line, used) : encodeWords(line, used)}\r\n`;
}

function foldWords(line: string, used: number): string {
  let column = used;
  let out = '';
  for (const word of line.split(' ')) {
    if (out !== '' && column + 1 + word.length > MAX_COLUMNS) {
      out += `\r\n ${word}`;
      column = 1 + word.length;
    } else {
      out += out === '' ? word : ` ${word}`;
      column += word.length + 1;
    }
  }
  return out;
}

/** Formats `Name: A <a@example.com>, B <b@example.com>` with its CRLF. @throws MessageError if an address is invalid. */
export function mailboxHeader(name: string, mailboxes: readonly Mailbox[], field: string, asciiOnly?: boolean): string {
  let out = `${name}: `;
  mailboxes.forEach((mailbox, i) => {
    if (i > 0) out += ',\r\n ';
    out += formatMailbox(mailbox, i > 0 ? 1 : name.length + 2, field, asciiOnly);
  });
  return `${out}\r\n`;
}

const ATOMS = /^[\w!#$%&'*+/=?^`{|}~-]+(?: [\w!#$%&'*+/=?^`{|}~-]+)*$/;

/**
 * Formats one mailbox, one character per octet. `used` is the number of columns taken on its first line. With `asciiOnly`, an address that
 * is not ASCII becomes the name of an empty group, which shows it but can't be replied to (RFC 6857, 3.1.8).
 */
export function formatMailbox(mailbox: Mailbox, used: number, field: string, asciiOnly = false): string {
  const { octets: address, utf8 } = wireAddress(mailbox.email, field);
  const name = mailbox.name;
  if (utf8 && asciiOnly) return `${encodeWords(collapsed(`${name ?? ''} ${mailbox.email}`), used)} :;`;
  if (name === undefined || name === null || name === '') return address;
  const phrase = formatPhrase(name, used);
  if (phrase === '') return address;
  const column = phrase.includes('\n') ? phrase.length - phrase.lastIndexOf('\n') : used + phrase.length;
  return column + address.length + 3 > MAX_COLUMNS ? `${phrase}\r\n <${address}>` : `${phrase} <${address}>`;
}

function formatPhrase(name: string, used: number): string {
  if (ATOMS.test(name) && name.length + used <= MAX_COLUMNS && !name.includes('=?')) return name;
  const line = collapsed(name);
  if (line === '') return '';
  const quoted = `"${line.replace(/[\\"]/g, '\\$&')}"`;
  const fits = quoted.length + used <= MAX_COLUMNS;
  return PRINTABLE.test(line) && fits && !line.includes('=?') ? quoted : encodeWords(line, used);
}

const collapsed = (text: string) =>
  text
    .replace(CONTROLS, ' ')
    .replace(/\s{2,}/g, ' ')
    .trim();

let lastSecond = -1;
let lastDate = '';

/** Formats a date per RFC 5322, in UTC. Cached, because a campaign formats the same second thousands of times. */
export function formatDate(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond) {
    lastDate = date.toUTCString().replace('GMT', '+0000');
    lastSecond = second;
  }
  return lastDate;
}

/** Formats a message id in angle brackets. @throws MessageError if it is invalid and could break out of the header. */
export function formatMessageId(id: string): string {
  const bare = id.startsWith('<') && id.endsWith('>') ? id.slice(1, -1) : id;
  if (bare.length > 250 || !/^[\w!#$%&'*+/=?^`{|}~.-]+@[\w.-]+$/.test(bare)) {
    throw new MessageError('messageId', 'Not a valid message id.');
  }
  return `<${bare}>`;
}

export interface Unsubscribe {
  /** Must unsubscribe on a POST of `List-Unsubscribe=One-Click`, without confirmation (RFC 8058). */
  readonly url: string;
  /** Mail to this address unsubscribes too. */
  readonly mailto?: string | undefined;
}

/** Formats List-Unsubscribe and List-Unsubscribe-Post. @throws MessageError if a URL or address is invalid. */
export function unsubscribeHeaders({ url, mailto }: Unsubscribe): string {
  if (!/^https?:\/\/[\w\-.~:/?#@!$&'()*+;=%]+$/.test(url) || url.length > MAX_LINE_LENGTH - 30) {
    throw new MessageError('unsubscribe.url', 'The unsubscribe URL must be a valid http or https URL.');
  }
  const mail = mailto === undefined ? '' : `,\r\n <mailto:${checkMailto(mailto)}>`;
  return `List-Unsubscribe: <${url}>${mail}\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`;
}

function checkMailto(mailto: string): string {
  if (/^[\w\-.~@!$&'*+;=%?]{3,900}$/.test(mailto)) return mailto;
  throw new MessageError('unsubscribe.mailto', 'The unsubscribe mailto is not a valid address.');
}
