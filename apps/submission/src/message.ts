import { type AttachmentInput, formatMailbox, type SendEmailInput } from '@postroom/emails';
import { headerProblem } from '@postroom/mime';
import { DomainError, emailKey, jsonProblem, onThread, type ThreadFunction } from '@postroom/platform';
import { type ParsedMail, parseSubmitted } from './mail-parser.ts';
import { type Address, type Attachment, decodeWords, type Email, type Mailbox } from 'postal-mime';
import { Refusal } from './refusal.ts';

/** What a mail may ask of Postroom in headers, which do not go out. */
const OWN = /^x-postroom-/;
/** What mail systems write for each other on the way to us. */
const TRACE = /^(delivered-to|x-original-to|x-received|received-spf)$/;

/** A mail of 40 MB in lines of usual length takes a few seconds. */
const PARSE: ThreadFunction = {
  module: import.meta.resolve('./mail-parser.ts'),
  name: 'parseSubmitted',
  timeLimitMs: 15_000,
};
/** Up to so many bytes it takes longer to hand a mail to a thread than to parse it. */
const SHORT = 4_096;

async function parse(projectId: string, raw: Buffer): Promise<ParsedMail> {
  if (raw.length <= SHORT) return parseSubmitted(raw);
  const { mail, alternatives } = await onThread<[Uint8Array], ParsedMail>(PARSE, projectId, raw);
  return { mail, alternatives: alternatives.map((part) => ({ ...part, content: asBuffer(part.content) })) };
}

/** What comes from a thread is no Buffer any more. */
const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * Reads a mail as the request that `POST /v1/emails` would have been: its headers say what is shown, the envelope who gets it.
 * @throws Refusal when it can't be read.
 */
export async function readMessage(
  projectId: string,
  raw: Buffer,
  recipients: readonly string[],
): Promise<SendEmailInput> {
  const parsed = await parse(projectId, raw).catch((error: unknown) => {
    if (error instanceof DomainError) throw error;
    throw new Refusal(
      550,
      '5.6.0 The mail can not be read: its parts are nested too deep, its headers are too long, or it takes too long',
    );
  });
  return requestOf(parsed, recipients);
}

/** The request that a parsed mail stands for. @throws Refusal for headers of ours that can't be read. */
export function requestOf({ mail, alternatives }: ParsedMail, recipients: readonly string[]): SendEmailInput {
  const [to, cc] = [mailboxesOf(mail.to), mailboxesOf(mail.cc)];
  const shown = new Set([...to, ...cc].map(({ address }) => emailKey(address)));
  const [from] = mail.from === undefined ? [] : mailboxesOf([mail.from]);
  const own = ownHeaders(mail);
  const files = mail.attachments.map(attachmentOf);
  return {
    from: from === undefined ? '' : format(from),
    to: to.map(format),
    cc: cc.map(format),
    bcc: recipients.filter((address) => !shown.has(emailKey(address))),
    replyTo: mailboxesOf(mail.replyTo).map(format),
    subject: mail.subject === '' ? undefined : mail.subject,
    // A template says everything: what a library writes beside it is not meant.
    ...(own.templateId === undefined ? { ...wordsOf(mail, files), alternatives } : {}),
    ...own,
    headers: customHeaders(mail),
    attachments: files.map(({ input }) => input),
    recipients,
  };
}

const format = ({ name, address }: Mailbox) => formatMailbox({ email: address, name });

function mailboxesOf(addresses: readonly Address[] | undefined): Mailbox[] {
  return (addresses ?? []).flatMap((each) => (each.group === undefined ? [each] : each.group));
}

/** A mail without a body is an empty text, as mail programs show it. */
function wordsOf({ html, text }: Email, files: readonly File[]): Pick<SendEmailInput, 'html' | 'text'> {
  if (html === undefined || html === '') return { text: text === undefined || text === '' ? ' ' : text };
  let shown = html;
  for (const { given, input } of files) {
    if (given !== input.contentId) shown = shown.replaceAll(`cid:${given}`, `cid:${input.contentId ?? ''}`);
  }
  return text === undefined || text === '' ? { html: shown } : { html: shown, text };
}

/** An attachment, and the content id that the mail gave it. */
interface File {
  given: string | undefined;
  input: AttachmentInput;
}

function attachmentOf(file: Attachment, index: number): File {
  const { filename, mimeType, contentId, content } = file;
  const isInline = contentId !== undefined && (file.related === true || file.disposition === 'inline');
  const given = isInline ? contentId.replace(/^<|>$/g, '') : undefined;
  const ending = ENDINGS[mimeType] ?? '';
  return {
    given,
    input: {
      filename: fileName(filename) ?? `attachment-${index + 1}${ending}`,
      content: Buffer.from(content as ArrayBuffer).toString('base64'),
      contentType: /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : 'application/octet-stream',
      contentId: given?.replace(/[^\w.+@-]/g, '-').slice(0, 200),
    },
  };
}

const ENDINGS: Record<string, string> = {
  'image/gif': '.gif',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'message/rfc822': '.eml',
  'text/calendar': '.ics',
};

function fileName(given: string | null): string | undefined {
  // oxlint-disable-next-line no-control-regex -- a file name stands in a header
  const name = given?.replace(/[\u0000-\u001f\u007f/\\]/g, '_').trim();
  return name === undefined || name === '' ? undefined : name.slice(-255);
}

/** Headers that Postroom does not set itself, decoded; of several under one name the last. */
function customHeaders({ headers }: Email): Record<string, string> {
  const custom = new Map<string, [name: string, value: string]>();
  for (const { key, originalKey, value } of headers) {
    if (OWN.test(key) || TRACE.test(key) || headerProblem(originalKey, '') !== undefined) continue;
    custom.set(key, [originalKey, decodeWords(value).replace(/\s+/g, ' ').trim()]);
  }
  return Object.fromEntries(custom.values());
}

/** `X-Postroom-Tag`, `-Metadata`, `-Template`, `-Variables` and `-Scheduled-At` are what the fields of those names are. */
function ownHeaders({ headers }: Email) {
  const values = (name: string) =>
    headers.filter(({ key }) => key === `x-postroom-${name}`).map(({ value }) => decodeWords(value).trim());
  const [at] = values('scheduled-at');
  const scheduledAt = at === undefined ? undefined : new Date(at);
  if (Number.isNaN(scheduledAt?.getTime())) {
    throw new Refusal(550, '5.6.0 X-Postroom-Scheduled-At must be a time such as 2026-12-01T08:00:00Z');
  }
  return {
    tags: values('tag').flatMap((value) => value.split(',').map((tag) => tag.trim())),
    metadata: jsonOf('X-Postroom-Metadata', values('metadata')[0]),
    templateId: values('template')[0],
    variables: jsonOf('X-Postroom-Variables', values('variables')[0]),
    scheduledAt,
  };
}

function jsonOf(header: string, value: string | undefined): unknown {
  if (value === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    throw new Refusal(550, `5.6.0 ${header} must be a JSON object`);
  }
  const problem = jsonProblem(parsed);
  if (problem !== undefined) throw new Refusal(550, `5.6.0 ${header}: ${problem.path} ${problem.message}`);
  return parsed;
}
