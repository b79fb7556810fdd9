import { wireAddress } from './address.ts';
import type { Mailbox } from './address.ts';
import { encodeWords } from './encoded-words.ts';
import { MessageError } from './errors.ts';

/* eslint-disable no-control-regex -- header values are refused for control characters */
const LINE = 76;
/** RFC 5322 §2.1.1, without the line break. */
const LONGEST_LINE = 998;
const PRINTABLE = /^[ -~]*$/;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

const RESERVED =
  /^(from|to|cc|bcc|sender|reply-to|subject|date|message-id|mime-version|content-.*|return-path|received|resent-.*|dkim-signature|arc-.*|authentication-results)$/i;

/** Why a header of the user's own can't be sent, or `undefined`. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!/^[!-9;-~]{1,70}$/.test(name)) return `${JSON.stringify(name.slice(0, 80))} is not a header name.`;
  if (RESERVED.test(name)) return `The header ${name} is set by Postroom.`;
  if (/[\u0000-\u001f\u007f]/.test(value)) return `The header ${name} holds a line break or another control character.`;
  if (value.length > 4000) return `The header ${name} is longer than 4,000 characters.`;
  return undefined;
}

/**
 * A header of the user's own, folded and encoded, with its line break.
 * @throws MessageError for a name that is ours, or a line break in the value.
 */
export function customHeader(name: string, value: string): string {
  const problem = headerProblem(name, value);
  if (problem !== undefined) throw new MessageError(`headers.${name}`, problem);
  return textHeader(name, value);
}

/** `Name: text`, folded to 76 columns and encoded where needed, with its line break. Control characters become spaces. */
export function textHeader(name: string, text: string): string {
  if (PRINTABLE.test(text) && text.length + name.length + 2 <= LINE && !/^ | {2}| $|=\?/.test(text)) {
    return `${name}: ${text}\r\n`;
  }
  const line = text.replace(CONTROLS, ' ').replace(/ {2,}/g, ' ').trim();
  const used = name.length + 2;
  // What looks like an encoded word would be decoded by the reader, so it is encoded itself.
  const asIs = PRINTABLE.test(line) && !line.includes('=?') && !line.split(' ').some((word) => word.length > 900);
  return `${name}: ${asIs ? foldWords(line, used) : encodeWords(line, used)}\r\n`;
}

function foldWords(line: string, used: number): string {
  let column = used;
  let out = '';
  for (const word of line.split(' ')) {
    if (out !== '' && column + 1 + word.length > LINE) {
      out += `\r\n ${word}`;
      column = 1 + word.length;
    } else {
      out += out === '' ? word : ` ${word}`;
      column += word.length + 1;
    }
  }
  return out;
}

/** `Name: A <a@example.com>, B <b@example.com>` with its line break. @throws MessageError for what is no address. */
export function mailboxHeader(name: string, mailboxes: readonly Mailbox[], field: string): string {
  let out = `${name}: `;
  mailboxes.forEach((mailbox, i) => {
    if (i > 0) out += ',\r\n ';
    out += formatMailbox(mailbox, i > 0 ? 1 : name.length + 2, field);
  });
  return `${out}\r\n`;
}

const ATOMS = /^[\w!#$%&'*+/=?^`{|}~-]+(?: [\w!#$%&'*+/=?^`{|}~-]+)*$/;

/** One mailbox; `used` is how much of its first line is taken. The result is one character per octet. */
export function formatMailbox(mailbox: Mailbox, used: number, field: string): string {
  const address = wireAddress(mailbox.email, field).octets;
  const name = mailbox.name;
  if (name === undefined || name === null || name === '') return address;
  const phrase = formatPhrase(name, used);
  if (phrase === '') return address;
  const column = phrase.includes('\n') ? phrase.length - phrase.lastIndexOf('\n') : used + phrase.length;
  return column + address.length + 3 > LINE ? `${phrase}\r\n <${address}>` : `${phrase} <${address}>`;
}

function formatPhrase(name: string, used: number): string {
  if (ATOMS.test(name) && name.length + used <= LINE && !name.includes('=?')) return name;
  const line = name
    .replace(CONTROLS, ' ')
    .replace(/\s{2,}/g, ' ')
    .trim();
  if (line === '') return '';
  const quoted = `"${line.replace(/[\\"]/g, '\\$&')}"`;
  const fits = quoted.length + used <= LINE;
  return PRINTABLE.test(line) && fits && !line.includes('=?') ? quoted : encodeWords(line, used);
}

let lastSecond = -1;
let lastDate = '';

/** A date as RFC 5322 wants it, in UTC. A campaign asks for the same second thousands of times. */
export function formatDate(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond) {
    lastDate = date.toUTCString().replace('GMT', '+0000');
    lastSecond = second;
  }
  return lastDate;
}

/** A message id with its angle brackets. @throws MessageError when it could end the header or its brackets. */
export function formatMessageId(id: string): string {
  const bare = id.startsWith('<') && id.endsWith('>') ? id.slice(1, -1) : id;
  if (bare.length > 250 || !/^[\w!#$%&'*+/=?^`{|}~.-]+@[\w.-]+$/.test(bare)) {
    throw new MessageError('messageId', 'This is not a message id.');
  }
  return `<${bare}>`;
}

export interface Unsubscribe {
  /** Answers a POST of `List-Unsubscribe=One-Click` without asking back (RFC 8058). */
  readonly url: string;
  /** An address whose mail unsubscribes as well. */
  readonly mailto?: string | undefined;
}

/** List-Unsubscribe and List-Unsubscribe-Post. @throws MessageError for what is no https (or http) URL. */
export function unsubscribeHeaders({ url, mailto }: Unsubscribe): string {
  if (!/^https?:\/\/[\w\-.~:/?#@!$&'()*+;=%]+$/.test(url) || url.length > LONGEST_LINE - 30) {
    throw new MessageError('unsubscribe.url', 'This is not a web address to unsubscribe at.');
  }
  const mail = mailto === undefined ? '' : `,\r\n <mailto:${checkedMailto(mailto)}>`;
  return `List-Unsubscribe: <${url}>${mail}\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`;
}

function checkedMailto(mailto: string): string {
  if (/^[\w\-.~@!$&'*+;=%?]{3,900}$/.test(mailto)) return mailto;
  throw new MessageError('unsubscribe.mailto', 'This is not an address to unsubscribe at.');
}
