import MailComposer from 'nodemailer/lib/mail-composer';
import { detectMimeType } from 'nodemailer/lib/mime-funcs';
import type { Mailbox } from './address.ts';
import { checkSender } from './address.ts';
import { MessageError } from './errors.ts';
import { customHeader, formatMessageId, mailboxHeader, textHeader } from './headers.ts';

export interface Attachment {
  readonly filename: string;
  readonly content: Uint8Array;
  /** Derived from the filename by default. */
  readonly contentType?: string | undefined;
  /** Referenced from the HTML as `cid:…`; without brackets. */
  readonly contentId?: string | undefined;
}

/** An alternative body part besides text and HTML. `contentType` includes its parameters. */
export interface Alternative {
  readonly contentType: string;
  readonly content: Uint8Array;
  /** Whether it goes before the HTML; clients show the last part that they support. AMP always does. */
  readonly beforeHtml?: boolean | undefined;
}

export interface MessageInput {
  readonly messageId: string;
  readonly date: Date;
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly cc?: readonly Mailbox[] | undefined;
  readonly replyTo?: readonly Mailbox[] | undefined;
  readonly subject: string;
  readonly html?: string | undefined;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
  readonly alternatives?: readonly Alternative[] | undefined;
  /** As of `CompileRecipient`. */
  readonly asciiOnly?: boolean | undefined;
}

/**
 * Builds a single message, attachments included. Bcc recipients belong only in the envelope.
 * @throws MessageError if an address, a header or an attachment is invalid.
 */
export async function buildMessage(input: MessageInput): Promise<Buffer> {
  const { html } = input;
  const alternatives = input.alternatives ?? [];
  const ordered = [...alternatives.filter(isBeforeHtml), ...alternatives.filter((part) => !isBeforeHtml(part))];
  checkSender(input.from.email, 'from');
  const composer = new MailComposer({
    messageId: formatMessageId(input.messageId),
    date: input.date,
    text: withLineFeeds(input.text),
    html: html === undefined ? undefined : withLineFeeds(html),
    alternatives: ordered.map((part) => ({
      contentType: part.contentType,
      content: bytesOf(part.content),
      contentTransferEncoding: 'base64',
    })),
    attachments: input.attachments?.map(toComposerAttachment),
    textEncoding: 'quoted-printable',
    newline: '\r\n',
    // Content is always passed as bytes; never open a file or fetch a URL that a caller names.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  moveBeforeHtml(composer, alternatives.filter(isBeforeHtml).length);
  return Buffer.concat([Buffer.from(ownHeaders(input), 'latin1'), await composer.compile().build()]);
}

/**
 * The headers that go before those of the composer, which folds only at spaces, so a long word would exceed the line
 * limit, and does not write some of them as they are.
 */
function ownHeaders({ from, to, cc = [], replyTo = [], subject, headers = {}, asciiOnly }: MessageInput): string {
  const mailboxes = (name: string, field: string, all: readonly Mailbox[]) =>
    all.length === 0 ? '' : mailboxHeader(name, all, field, asciiOnly);
  const custom = Object.entries(headers).map(([name, value]) => customHeader(name, value));
  return [
    mailboxes('From', 'from', [from]),
    mailboxes('Reply-To', 'replyTo', replyTo),
    mailboxes('To', 'to', to),
    mailboxes('Cc', 'cc', cc),
    subject === '' ? '' : textHeader('Subject', subject),
    ...custom,
  ].join('');
}

/** The composer leaves a bare carriage return as it is, which is no line break in mail: what becomes of it breaks the signature. */
const withLineFeeds = (text: string) => text.replace(/\r\n?/g, '\n');

const isBeforeHtml = ({ beforeHtml, contentType }: Alternative) =>
  beforeHtml === true || /^text\/x-amp-html\b/i.test(contentType);

/** The composer puts its alternatives after the HTML: moves the first `count` of them before it. */
function moveBeforeHtml(composer: MailComposer, count: number): void {
  const parts = composer.getAlternatives();
  const html = parts.findIndex(({ contentType }) => /^text\/html\b/i.test(String(contentType)));
  if (html === -1 || count === 0) return;
  const moved = parts.splice(html + 1, count);
  parts.splice(html, 0, ...moved);
  composer.getAlternatives = () => parts;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength);

function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex -- a header must be a single line
  return text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}

function toComposerAttachment(file: Attachment, index: number) {
  const field = `attachments.${index}`;
  const { contentType, contentId } = file;
  if (contentType !== undefined && !/^[\w.+-]+\/[\w.+-]+(; ?[\w.+-]+=("[^"\\\r\n]*"|[\w.+-]+))*$/.test(contentType)) {
    throw new MessageError(
      `${field}.contentType`,
      `${JSON.stringify(contentType.slice(0, 80))} is not a content type.`,
    );
  }
  if (contentId !== undefined && !/^[\w.+@-]{1,200}$/.test(contentId)) {
    throw new MessageError(`${field}.contentId`, `${JSON.stringify(contentId.slice(0, 80))} is not a content id.`);
  }
  const filename = oneLine(file.filename);
  const type = contentType ?? detectMimeType(filename);
  return {
    filename,
    ...(/^message\//i.test(type) ? messageFile(file, type) : base64File(file, type)),
    ...(contentId === undefined ? {} : { cid: contentId, contentDisposition: 'inline' }),
  };
}

const base64File = ({ content }: Attachment, contentType: string) => ({
  content: bytesOf(content),
  contentTransferEncoding: 'base64',
  contentType,
});

/** A message can't be encoded (RFC 2046, 5.2.1): servers reject one that is, or clients show nothing. */
function messageFile(file: Attachment, contentType: string) {
  const content = bytesOf(file.content).toString('latin1').replace(/\r?\n/g, '\r\n');
  if (!content.split('\r\n').every(isSevenBit)) return base64File(file, 'application/octet-stream');
  return { content, contentTransferEncoding: '7bit', contentType };
}

/** Whether every server takes a line as it is. */
const isSevenBit = (line: string) => line.length <= 998 && !/[\r\n\u0080-\u00ff]/.test(line) && !line.includes('\0');
