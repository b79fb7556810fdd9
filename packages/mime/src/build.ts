import MailComposer from 'nodemailer/lib/mail-composer';
import type { Mailbox } from './address.ts';
import { checkSender, wireAddress } from './address.ts';
import { MessageError } from './errors.ts';
import { customHeader, formatMessageId, textHeader } from './headers.ts';

export interface Attachment {
  readonly filename: string;
  readonly content: Uint8Array;
  /** Told from the file name when not given. */
  readonly contentType?: string | undefined;
  /** Shown in the HTML as `cid:…`, without brackets. */
  readonly contentId?: string | undefined;
}

/** A form of the body beside text and HTML, with the parameters of its type. */
export interface Alternative {
  readonly contentType: string;
  readonly content: Uint8Array;
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
}

/**
 * A message that goes out once. Whoever gets a blind copy stands in the envelope only.
 * @throws MessageError when an address, a header or an attachment can't be sent.
 */
export async function buildMessage(input: MessageInput): Promise<Buffer> {
  const { html, text } = input;
  const [amp, ...moreAmp] = (input.alternatives ?? []).filter(isAmp);
  // Clients show the last form that they know: AMP stands before HTML, what is neither behind it.
  const others = [...moreAmp, ...(input.alternatives ?? []).filter((part) => !isAmp(part))];
  checkSender(input.from.email, 'from');
  const composer = new MailComposer({
    messageId: formatMessageId(input.messageId),
    date: input.date,
    from: address(input.from, 'from'),
    to: input.to.map((mailbox) => address(mailbox, 'to')),
    cc: input.cc?.map((mailbox) => address(mailbox, 'cc')),
    replyTo: input.replyTo?.map((mailbox) => address(mailbox, 'replyTo')),
    headers: [
      ...(input.subject === '' ? [] : [prepared(textHeader('Subject', input.subject))]),
      ...Object.entries(input.headers ?? {}).map(([name, value]) => prepared(customHeader(name, value))),
    ],
    text,
    html,
    amp: amp === undefined ? undefined : { content: bytesOf(amp.content) },
    alternatives: others.map((part) => ({
      contentType: part.contentType,
      content: bytesOf(part.content),
      contentTransferEncoding: 'base64',
    })),
    attachments: input.attachments?.map(attachment),
    textEncoding: 'quoted-printable',
    newline: '\r\n',
    // Content is given as bytes; nothing a caller names is ever opened or fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

const isAmp = ({ contentType }: Alternative) => /^text\/x-amp-html\b/i.test(contentType);

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength);

/** A header that is written as it is: the composer breaks lines at spaces only, so that a long word would make too long a line. */
function prepared(header: string) {
  const colon = header.indexOf(':');
  // It has one character for each octet, and the composer writes UTF-8.
  const value = Buffer.from(header.slice(colon + 2, -2), 'latin1').toString('utf8');
  return { key: header.slice(0, colon), value: { prepared: true, foldLines: false, value } };
}

function address({ email, name }: Mailbox, field: string): { name: string; address: string } {
  wireAddress(email, field);
  return { name: oneLine(name ?? ''), address: email };
}

function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex -- a header has one line
  return text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}

function attachment(file: Attachment, index: number) {
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
  return {
    filename: oneLine(file.filename),
    content: bytesOf(file.content),
    contentTransferEncoding: 'base64',
    ...(contentType === undefined ? {} : { contentType }),
    ...(contentId === undefined ? {} : { cid: contentId, contentDisposition: 'inline' }),
  };
}
