import {
  type AttachmentInput,
  formatMailbox,
  MAX_ATTACHMENTS,
  MAX_CONTENT_TYPE_LENGTH,
  MAX_FILENAME_LENGTH,
  type SendEmailInput,
} from '@postroom/emails';
import { headerProblem } from '@postroom/mime';
import {
  emailKey,
  emailProblem,
  IsolatedCallError,
  type IsolatedFunction,
  jsonProblem,
  parseDateTime,
  runIsolated,
  displayNameProblem,
  withoutReordering,
} from '@postroom/platform';
import { MAX_ALTERNATIVES, type ParsedMail, parseSubmitted } from './mail-parser.ts';
import { type Address, addressParser, type Attachment, type Email, type Mailbox } from '@postroom/mime/parse';
import { Refusal } from '@postroom/network/smtp-server';

/** Headers with Postroom options, which are not sent on. */
const OPTION_HEADER = /^x-postroom-/;
const ONE_OPTION = ['x-postroom-metadata', 'x-postroom-template', 'x-postroom-variables', 'x-postroom-scheduled-at'];
const OPTIONS = new Set(['x-postroom-tag', ...ONE_OPTION]);
/**
 * Headers that a message has at most once: those of RFC 5322, 3.6, of which servers show different ones or reject the message,
 * and our options.
 */
const ONCE = new Set(['from', 'sender', 'reply-to', 'subject', 'date', 'message-id', ...ONE_OPTION]);
/** Maximum header fields. Only 50 are sent on, and a mail gets some at each server that it passes. */
const MAX_HEADERS = 1_000;
/** Maximum length of a From header, before it is decoded. */
const MAX_FROM_LENGTH = 4_096;
/** Trace headers added in transit. */
const TRACE_HEADER = /^(delivered-to|x-original-to|x-received|received-spf)$/;

/** A 40 MB mail takes a few seconds to parse. */
const PARSE: IsolatedFunction = {
  module: import.meta.resolve('./mail-parser.ts'),
  name: 'parseSubmitted',
  timeLimitMs: 15_000,
};
/** Below this size in bytes, parsing inline is faster than handing the mail to another process. */
const INLINE_BYTES = 4_096;

const parse = (sender: string, raw: Buffer): Promise<ParsedMail> =>
  raw.length <= INLINE_BYTES
    ? parseSubmitted(raw).catch((error: Error) => Promise.reject(new IsolatedCallError(error.message)))
    : runIsolated<[Uint8Array], ParsedMail>(PARSE, sender, raw);

/**
 * Converts a mail to the equivalent `POST /v1/emails` request: its headers supply the content, the envelope the recipients.
 * @param sender shares the processes fairly with others.
 * @throws Refusal if it can't be parsed; otherwise as `runIsolated`.
 */
export async function readMessage(sender: string, raw: Buffer, recipients: readonly string[]): Promise<SendEmailInput> {
  const parsed = await parse(sender, raw).catch((error: unknown) => {
    if (!(error instanceof IsolatedCallError)) throw error;
    throw new Refusal(
      550,
      '5.6.0 The message could not be parsed: too many parts or parts nested too deeply, headers too long, or parsing timed out',
    );
  });
  return requestOf(parsed, recipients);
}

/** Converts a parsed mail to a request. @throws Refusal if an X-Postroom header is invalid or unknown, or a header repeated that may not be. */
export function requestOf(
  { mail, alternatives, headerValues, lacksParts }: ParsedMail,
  recipients: readonly string[],
): SendEmailInput {
  if (lacksParts) throw new Refusal(550, '5.6.0 The message has a multipart without parts; check its boundary');
  checkCounts(mail, alternatives);
  checkNames(mail);
  const [to, cc] = [shownMailboxes(mail.to), shownMailboxes(mail.cc)];
  const shown = new Set([...to, ...cc].map(({ address }) => emailKey(address)));
  const options = optionHeaders(mail, headerValues);
  const files = withUniqueIds(mail.attachments.map(attachmentOf));
  return {
    from: senderOf(mail),
    to: to.map(format),
    cc: cc.map(format),
    bcc: recipients.filter((address) => !shown.has(emailKey(address))),
    replyTo: mailboxesOf(mail.replyTo).map(format),
    subject: mail.subject === '' ? undefined : mail.subject,
    // A template replaces the body, so ignore whatever body the client library added.
    ...(options.templateId === undefined ? { ...bodyOf(mail, files), alternatives } : {}),
    ...options,
    headers: customHeaders(mail, headerValues),
    attachments: files.map(({ input }) => input),
    recipients,
  };
}

/** Refuses at once what would be refused after a check of each part, which takes seconds for a hundred thousand. */
function checkCounts({ headers, attachments }: Email, alternatives: readonly unknown[]): void {
  if (headers.length > MAX_HEADERS)
    throw new Refusal(550, `5.6.0 The message has more than ${MAX_HEADERS} header fields`);
  if (attachments.length > MAX_ATTACHMENTS)
    throw new Refusal(550, `5.6.0 attachments must be at most ${MAX_ATTACHMENTS} files`);
  if (alternatives.length > MAX_ALTERNATIVES)
    throw new Refusal(550, `5.6.0 The message has more than ${MAX_ALTERNATIVES} alternative bodies`);
}

/** Refuses headers of which one would be ignored silently: the second of a kind, and a misspelled option. */
function checkNames({ headers }: Email): void {
  const seen = new Set<string>();
  for (const { key, originalKey } of headers) {
    if (OPTION_HEADER.test(key) && !OPTIONS.has(key))
      throw new Refusal(550, `5.6.0 ${originalKey} is not a header that Postroom knows`);
    if (!ONCE.has(key)) continue;
    if (seen.has(key)) throw new Refusal(550, `5.6.0 The message has more than one ${originalKey} header`);
    seen.add(key);
  }
}

/** @throws Refusal for several addresses, which RFC 5322 allows: an email has one sender here. */
function senderOf({ headers }: Email): string {
  const given = headers.find(({ key }) => key === 'from')?.value ?? '';
  if (given.length > MAX_FROM_LENGTH)
    throw new Refusal(550, `5.6.0 The From header has more than ${MAX_FROM_LENGTH} characters`);
  const [sender, ...others] = mailboxesOf(addressParser(given));
  if (others.length > 0) throw new Refusal(550, '5.6.0 The From header has more than one address');
  return sender === undefined ? '' : format(sender);
}

const format = ({ name, address }: Mailbox) => formatMailbox({ email: address, name: withoutReordering(name) });

function mailboxesOf(addresses: readonly Address[] | undefined): Mailbox[] {
  return (addresses ?? []).flatMap((each) => (each.group === undefined ? [each] : each.group));
}

/**
 * The mailboxes of `To` or `Cc` that can be shown. The others, such as `root` or one that was refused as a recipient, are left out: who gets
 * the mail is in the envelope.
 */
const shownMailboxes = (addresses: readonly Address[] | undefined) =>
  mailboxesOf(addresses).filter(({ address }) => emailProblem(address) === undefined);

/** The body; a mail without one becomes a blank text. */
function bodyOf({ html, text }: Email, files: readonly File[]): Pick<SendEmailInput, 'html' | 'text'> {
  const plain = withoutLastBreak(text);
  if (html === undefined || html === '') return { text: plain === '' ? ' ' : plain };
  const shown = withContentIds(withoutLastBreak(html), files);
  return plain === '' ? { html: shown } : { html: shown, text: plain };
}

/** Names inline images as the email does. The content ids are replaced in one pass, the longest first: one may begin another. */
function withContentIds(html: string, files: readonly File[]): string {
  const renamed = new Map(
    files.flatMap(({ given, input: { contentId } }) =>
      given === undefined || contentId === undefined || given === contentId ? [] : [[given, contentId] as const],
    ),
  );
  if (renamed.size === 0) return html;
  const given = [...renamed.keys()].toSorted((one, other) => other.length - one.length).map(escaped);
  return html.replace(new RegExp(`cid:(${given.join('|')})`, 'g'), (_, id: string) => `cid:${renamed.get(id)}`);
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** The library ends each part with a line break, and so does the message that is made of it. */
const withoutLastBreak = (text = '') => text.replace(/\r?\n$/, '');

/**
 * Gives each content id to one file, as `/v1` requires: ids that differ only in characters that we replace get a number, and of
 * files with the same id the first is the one that the HTML shows.
 */
function withUniqueIds(files: readonly File[]): File[] {
  const [seen, taken] = [new Set<string>(), new Set<string>()];
  return files.map((file) => {
    const { given, input } = file;
    if (given === undefined || input.contentId == null) return file;
    if (seen.has(given)) return { given: undefined, input: { ...input, contentId: undefined } };
    seen.add(given);
    let contentId = input.contentId;
    for (let number = 2; taken.has(contentId); number++) contentId = `${input.contentId.slice(0, 196)}-${number}`;
    taken.add(contentId);
    return { given, input: { ...input, contentId } };
  });
}

/** An attachment with its original content id. */
interface File {
  given: string | undefined;
  input: AttachmentInput;
}

function attachmentOf(file: Attachment, index: number): File {
  const { filename, mimeType, contentId, content } = file;
  const isInline = contentId !== undefined && (file.related === true || file.disposition === 'inline');
  const given = isInline ? contentId.replace(/^<|>$/g, '') : undefined;
  const [type = ''] = mimeType.split(';', 1);
  const extension = EXTENSIONS[type] ?? '';
  return {
    given,
    input: {
      filename: fileName(filename) ?? `attachment-${index + 1}${extension}`,
      content: Buffer.from(content as ArrayBuffer).toString('base64'),
      contentType: mimeType.length <= MAX_CONTENT_TYPE_LENGTH ? mimeType : type,
      contentId: given?.replace(/[^\w.+@-]/g, '-').slice(0, 200),
    },
  };
}

const EXTENSIONS: Record<string, string> = {
  'image/gif': '.gif',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'message/rfc822': '.eml',
  'text/calendar': '.ics',
};

function fileName(given: string | null): string | undefined {
  const name = withoutReordering(given ?? '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}/\\]/gu, '_')
    .trim()
    .slice(-MAX_FILENAME_LENGTH);
  return displayNameProblem(name, MAX_FILENAME_LENGTH) === undefined ? name : undefined;
}

/** Custom headers, decoded; the last one wins for repeated names. */
function customHeaders({ headers }: Email, decoded: readonly string[]): Record<string, string> {
  const custom = new Map<string, [name: string, value: string]>();
  for (const [index, { key, originalKey }] of headers.entries()) {
    if (OPTION_HEADER.test(key) || TRACE_HEADER.test(key) || headerProblem(originalKey, '') !== undefined) continue;
    custom.set(key, [originalKey, (decoded[index] ?? '').replace(/\s+/g, ' ').trim()]);
  }
  return Object.fromEntries(custom.values());
}

/** Reads `X-Postroom-Tag`, `-Metadata`, `-Template`, `-Variables` and `-Scheduled-At`, the counterparts of the API fields. */
function optionHeaders({ headers }: Email, decoded: readonly string[]) {
  const values = (name: string) =>
    headers.flatMap(({ key }, index) => (key === `x-postroom-${name}` ? [(decoded[index] ?? '').trim()] : []));
  const [at] = values('scheduled-at');
  const scheduledAt = at === undefined ? undefined : parseDateTime(at);
  if (at !== undefined && scheduledAt === undefined) {
    throw new Refusal(
      550,
      '5.6.0 X-Postroom-Scheduled-At must be an ISO 8601 date and time with an offset, such as 2026-12-01T08:00:00Z',
    );
  }
  return {
    tags: values('tag').flatMap((value) =>
      value
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
    ),
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
