import MailComposer from 'nodemailer/lib/mail-composer';
import type { Mailbox } from './address.ts';
import { checkSender, wireAddress } from './address.ts';
import { MessageError } from './errors.ts';
import { formatMessageId, headerProblem } from './headers.ts';
import { htmlToText } from './html-to-text.ts';

export interface Attachment {
  readonly filename: string;
  readonly content: Uint8Array;
  /** Told from the file name when not given. */
  readonly contentType?: string | undefined;
  /** Shown in the HTML as `cid:…`, without brackets. */
  readonly contentId?: string | undefined;
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
  /** Made from the HTML when not given. */
  readonly text?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
}

/**
 * A message that goes out once. Whoever gets a blind copy stands in the envelope only.
 * @throws MessageError when an address, a header or an attachment can't be sent.
 */
export async function buildMessage(input: MessageInput): Promise<Buffer> {
  const { html, text = html === undefined ? undefined : htmlToText(html) } = input;
  if (text === undefined) throw new MessageError('html', 'A message needs HTML or text.');
  refuseHeaders(input.headers ?? {});
  checkSender(input.from.email, 'from');
  const composer = new MailComposer({
    messageId: formatMessageId(input.messageId),
    date: input.date,
    from: address(input.from, 'from'),
    to: input.to.map((mailbox) => address(mailbox, 'to')),
    cc: input.cc?.map((mailbox) => address(mailbox, 'cc')),
    replyTo: input.replyTo?.map((mailbox) => address(mailbox, 'replyTo')),
    subject: oneLine(input.subject),
    headers: { ...input.headers },
    text,
    html,
    attachments: input.attachments?.map(attachment),
    textEncoding: 'quoted-printable',
    newline: '\r\n',
    // Content is given as bytes; nothing a caller names is ever opened or fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

function refuseHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const problem = headerProblem(name, value);
    if (problem !== undefined) throw new MessageError(`headers.${name}`, problem);
  }
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
    content: Buffer.from(file.content.buffer, file.content.byteOffset, file.content.byteLength),
    contentTransferEncoding: 'base64',
    ...(contentType === undefined ? {} : { contentType }),
    ...(contentId === undefined ? {} : { cid: contentId, contentDisposition: 'inline' }),
  };
}
