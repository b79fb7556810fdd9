import { randomUUID } from 'node:crypto';
import { renderTemplate, valueFor } from '@postroom/templates/render';
import type { Template, Values, Variable } from '@postroom/templates/render';
import type { Mailbox } from './address.ts';
import { checkSender } from './address.ts';
import { MessageError } from './errors.ts';
import {
  customHeader,
  formatDate,
  formatMailbox,
  formatMessageId,
  mailboxHeader,
  textHeader,
  unsubscribeHeaders,
} from './headers.ts';
import type { Unsubscribe } from './headers.ts';
import { encodeLastPiece, encodePiece, encodeValue } from './quoted-printable.ts';

export interface CompileInput {
  readonly from: Mailbox;
  readonly replyTo?: Mailbox | undefined;
  readonly subject: Template;
  readonly html: Template;
  readonly text: Template;
  /** Headers that are the same for every recipient. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface CompileRecipient {
  readonly to: Mailbox;
  /** Derived from the ledger's row, so that the same row never goes out under two. */
  readonly messageId: string;
  readonly date: Date;
  readonly values: Values;
  readonly unsubscribe?: Unsubscribe | undefined;
  /** Headers of this recipient alone. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The most that a message may become by the values of a recipient; servers take no more. */
const MAX_MESSAGE_LENGTH = 25_000_000;

/** A campaign's message with all that its recipients share encoded once. */
export interface CompiledMessage {
  readonly subject: Template;
  readonly html: Template;
  readonly text: Template;
  /**
   * The whole message of one recipient, one character per octet: CRLF line ends, one at the end, no line over 998 and
   * none that starts with a dot, so that it goes out as it is (`stuffed: true`). Costs a splice per variable.
   * @throws MessageError when the recipient's address, message id, headers or unsubscribe URL can't stand in a header.
   */
  render(recipient: CompileRecipient): string;
}

/**
 * Encodes a message's frame. Text and HTML are quoted-printable, with a soft line break around each variable, so that no
 * splice depends on its neighbours.
 * @throws MessageError when a template has problems, or a header can't be sent.
 */
export function compileMessage(input: CompileInput): CompiledMessage {
  const { subject, html, text } = input;
  for (const [field, template] of Object.entries({ subject, html, text })) refuseProblems(field, template);
  const head = staticHeaders(input);
  const fixedSubject = subject.variables.length === 0 ? subjectHeader(renderTemplate(subject, {})) : undefined;
  const { boundary, pieces, variables } = encodeBody(text, html);
  const contentType = `MIME-Version: 1.0\r\nContent-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n\r\n`;
  const opening = contentType + pieces[0]!;

  const render = (recipient: CompileRecipient): string => {
    const { values } = recipient;
    let out = `${head}To: ${formatMailbox(recipient.to, 4, 'to')}\r\n`;
    out += fixedSubject ?? textHeader('Subject', renderTemplate(subject, values));
    out += `Date: ${formatDate(recipient.date)}\r\nMessage-ID: ${formatMessageId(recipient.messageId)}\r\n`;
    if (recipient.unsubscribe) out += unsubscribeHeaders(recipient.unsubscribe);
    if (recipient.headers) out += customHeaders(recipient.headers);
    out += opening;
    for (let i = 0; i < variables.length; i++) {
      out += encodeValue(valueFor(variables[i]!, values)) + pieces[i + 1]!;
      if (out.length > MAX_MESSAGE_LENGTH)
        throw new MessageError(
          'html',
          `The message has more than ${MAX_MESSAGE_LENGTH} bytes with its values filled in.`,
        );
    }
    return out;
  };
  return { subject, html, text, render };
}

/** None for a message that has none. */
const subjectHeader = (text: string) => (text === '' ? '' : textHeader('Subject', text));

function refuseProblems(field: string, template: Template): void {
  const problem = template.problems[0];
  if (problem) throw new MessageError(field, `Line ${problem.line}, column ${problem.column}: ${problem.message}`);
}

function staticHeaders({ from, replyTo, headers = {} }: CompileInput): string {
  let out = senderHeader('From', from, 'from');
  if (replyTo) out += senderHeader('Reply-To', replyTo, 'replyTo');
  return out + customHeaders(headers);
}

function senderHeader(name: string, mailbox: Mailbox, field: string): string {
  checkSender(mailbox.email, field);
  return mailboxHeader(name, [mailbox], field);
}

function customHeaders(headers: Readonly<Record<string, string>>): string {
  let out = '';
  for (const [name, value] of Object.entries(headers)) {
    if (/^list-unsubscribe(-post)?$/i.test(name)) {
      throw new MessageError(`headers.${name}`, `The header ${name} is set by Postroom.`);
    }
    out += customHeader(name, value);
  }
  return out;
}

/** Both parts as one row of static pieces with variables between them. */
function encodeBody(text: Template, html: Template): { boundary: string; pieces: string[]; variables: Variable[] } {
  // "=_" is in no quoted-printable text, so that the boundary can't be in a part (RFC 2045 §6.7). Node keeps random bytes for
  // UUIDs in stock; asking the system for twelve was a twentieth of what the worker did for a transactional email.
  const boundary = `=_${randomUUID().replaceAll('-', '')}`;
  const partHead = (type: string) =>
    `--${boundary}\r\nContent-Type: text/${type}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n`;
  const textPieces = encodePieces(text);
  const htmlPieces = encodePieces(html);
  const join = `${textPieces.pop()!}\r\n${partHead('html')}${htmlPieces.shift()!}`;
  const pieces = [...textPieces, join, ...htmlPieces];
  pieces[0] = partHead('plain') + pieces[0]!;
  pieces[pieces.length - 1] += `\r\n--${boundary}--\r\n`;
  return { boundary, pieces: pieces.map(oneByte), variables: [...text.variables, ...html.variables] };
}

/**
 * The same text of one byte a character: one that was cut out of a text with other characters keeps two for each of its own,
 * and so would every message that it becomes a part of.
 */
const oneByte = (text: string) => Buffer.from(text, 'latin1').toString('latin1');

function encodePieces({ statics }: Template): string[] {
  return statics.map((piece, i) => (i === statics.length - 1 ? encodeLastPiece(piece) : encodePiece(piece)));
}
