import {
  databaseNow,
  displayNameProblem,
  emailKey,
  type FieldProblem,
  MAX_TAG_LENGTH,
  normalizeText,
} from '@postroom/platform';
import { MAX_SUBJECT_LENGTH } from '@postroom/templating';
import { checkMailbox, checkSenderMailbox } from './mailbox.ts';
import { headerProblem, type Mailbox } from '@postroom/mime';
import { MAX_TEXT_LENGTH } from './fill-content.ts';

export interface AttachmentInput {
  filename: string;
  /** Base64. */
  content: string;
  contentType?: string | null | undefined;
  contentId?: string | null | undefined;
}

/** An alternative body besides text and HTML. */
export interface AlternativeInput {
  /** As in a Content-Type header, with parameters. */
  contentType: string;
  content: Buffer;
  /** Whether it came before the HTML. */
  beforeHtml: boolean;
}

/** A transactional email as provided by the caller. */
export interface SendEmailInput {
  from: string;
  to: readonly string[];
  cc?: readonly string[] | null | undefined;
  bcc?: readonly string[] | null | undefined;
  replyTo?: readonly string[] | null | undefined;
  subject?: string | null | undefined;
  html?: string | null | undefined;
  text?: string | null | undefined;
  templateId?: string | null | undefined;
  variables?: unknown;
  headers?: unknown;
  attachments?: readonly AttachmentInput[] | null | undefined;
  tags?: readonly string[] | null | undefined;
  metadata?: unknown;
  trackOpens?: boolean | null | undefined;
  trackClicks?: boolean | null | undefined;
  scheduledAt?: Date | null | undefined;
  /** Alternative bodies, such as `text/calendar; method=REQUEST`; only for mail submitted over SMTP. */
  alternatives?: readonly AlternativeInput[] | undefined;
  /** The envelope recipients. If given, `to`, `cc` and `bcc` only fill the headers. */
  recipients?: readonly string[] | undefined;
}

interface Attachment {
  filename: string;
  content: Buffer;
  contentType: string | null;
  contentId: string | null;
  alternative: boolean;
  beforeHtml: boolean;
}

/** A parsed and validated email whose content is not rendered yet. */
export interface ReadEmail {
  from: Mailbox;
  to: Mailbox[];
  cc: Mailbox[];
  bcc: Mailbox[];
  replyTo: Mailbox[];
  headers: Record<string, string>;
  attachments: Attachment[];
  tags: string[];
  metadata: Record<string, unknown>;
  /** Null uses the project's setting. */
  trackOpens: boolean | null;
  trackClicks: boolean | null;
  scheduledAt: Date | null;
  recipients: Mailbox[] | undefined;
}

/** The most recipients per email, including cc and bcc. */
export const MAX_RECIPIENTS = 50;
export const MAX_REPLY_TO = 10;
/** The most header addresses of mail with an envelope, whose other recipients may be in another email. */
const MAX_HEADER_ADDRESSES = 1_000;
export const MAX_ATTACHMENTS = 50;
export const MAX_FILENAME_LENGTH = 255;
export const MAX_CONTENT_TYPE_LENGTH = 255;
/** For `cid:` links. */
export const CONTENT_ID = /^[A-Za-z0-9_.+@-]{1,200}$/;
export const MAX_CONTENT_ID_LENGTH = 200;
const MAX_METADATA_LENGTH = 8_000;
const MAX_SCHEDULE_DAYS = 365;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Collects validation problems, each with the path of its field. */
export class Problems {
  readonly found: FieldProblem[] = [];

  add(field: string, message: string): void {
    this.found.push({ field, message });
  }
}

/** Parses an email field by field. Adds problems to `problems`, with `path` as a prefix, such as `emails.3.`. */
export function readEmail(input: SendEmailInput, problems: Problems, path = ''): ReadEmail {
  const at = (field: string) => path + field;
  const addresses = (field: 'to' | 'cc' | 'bcc') => readMailboxes(input[field] ?? [], at(field), problems);
  const from = readMailbox(input.from, at('from'), problems, checkSenderMailbox);
  const [to, cc, bcc] = [addresses('to'), addresses('cc'), addresses('bcc')];
  const replyTo = readMailboxes(input.replyTo ?? [], at('replyTo'), problems, checkSenderMailbox);
  const recipients = input.recipients && readMailboxes(input.recipients, at('recipients'), problems);
  if (input.to.length === 0 && recipients === undefined) problems.add(at('to'), 'must contain at least one address');
  if (recipients === undefined && to.length + cc.length + bcc.length > MAX_RECIPIENTS)
    problems.add(at('to'), `must be at most ${MAX_RECIPIENTS} addresses, including cc and bcc`);
  if (recipients !== undefined && recipients.length > MAX_RECIPIENTS)
    problems.add(at('recipients'), `must be at most ${MAX_RECIPIENTS} addresses`);
  if (to.length + cc.length > MAX_HEADER_ADDRESSES)
    problems.add(at('to'), `must be at most ${MAX_HEADER_ADDRESSES} addresses, including cc`);
  if (replyTo.length > MAX_REPLY_TO) problems.add(at('replyTo'), `must be at most ${MAX_REPLY_TO} addresses`);
  checkLength(input.subject, at('subject'), MAX_SUBJECT_LENGTH, problems);
  checkLength(input.html, at('html'), MAX_TEXT_LENGTH, problems);
  checkLength(input.text, at('text'), MAX_TEXT_LENGTH, problems);
  return {
    from: from ?? { email: '' },
    to,
    cc,
    bcc,
    replyTo,
    headers: readHeaders(input.headers, at('headers'), problems),
    attachments: [
      ...readAttachments(input.attachments ?? [], at('attachments'), problems),
      ...(input.alternatives ?? []).map(toAlternative),
    ],
    tags: readTags(input.tags ?? [], at('tags'), problems),
    metadata: readMetadata(input.metadata, at('metadata'), problems),
    trackOpens: input.trackOpens ?? null,
    trackClicks: input.trackClicks ?? null,
    scheduledAt: readScheduledAt(input.scheduledAt, at('scheduledAt'), problems),
    recipients,
  };
}

function readMailboxes(texts: readonly string[], path: string, problems: Problems, check = checkMailbox): Mailbox[] {
  return texts.flatMap((text, index) => readMailbox(text, `${path}.${index}`, problems, check) ?? []);
}

function readMailbox(text: string, path: string, problems: Problems, check: typeof checkMailbox): Mailbox | undefined {
  const mailbox = check(text);
  if (typeof mailbox !== 'string') return mailbox;
  problems.add(path, mailbox);
  return undefined;
}

function checkLength(text: string | null | undefined, path: string, most: number, problems: Problems): void {
  if (text != null && text.length > most) problems.add(path, `must be at most ${most} characters`);
}

function readHeaders(given: unknown, path: string, problems: Problems): Record<string, string> {
  const headers = readObject(given, path, problems);
  const names = Object.keys(headers);
  if (names.length > 50) problems.add(path, 'must be at most 50 headers');
  const seen = new Set<string>();
  for (const name of names) {
    const value = headers[name];
    const key = name.toLowerCase();
    if (seen.has(key)) problems.add(`${path}.${name}`, 'is given twice; case does not distinguish headers');
    seen.add(key);
    if (typeof value !== 'string') problems.add(`${path}.${name}`, 'must be a string');
    else {
      const problem = headerProblem(name, value);
      if (problem !== undefined) problems.add(`${path}.${name}`, problem);
    }
  }
  return headers as Record<string, string>;
}

function readAttachments(given: readonly AttachmentInput[], path: string, problems: Problems): Attachment[] {
  if (given.length > MAX_ATTACHMENTS) problems.add(path, `must be at most ${MAX_ATTACHMENTS} files`);
  const contentIds = new Set<string>();
  return given.map(({ filename, content, contentType, contentId }, index) => {
    const at = `${path}.${index}`;
    const name = filename.trim();
    const problem = /[/\\]/.test(name) ? 'must not contain slashes' : displayNameProblem(filename, MAX_FILENAME_LENGTH);
    if (problem !== undefined) problems.add(`${at}.filename`, problem);
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(content.replace(/\s/g, ''))) problems.add(`${at}.content`, 'must be base64');
    if (contentType != null && contentType.length > MAX_CONTENT_TYPE_LENGTH)
      problems.add(`${at}.contentType`, `must be at most ${MAX_CONTENT_TYPE_LENGTH} characters`);
    else if (contentType != null && !/^[\w.+-]+\/[\w.+-]+(; ?[\w.+-]+=("[^"\\\r\n]*"|[\w.+-]+))*$/.test(contentType)) {
      problems.add(`${at}.contentType`, 'must be a content type such as application/pdf');
    } else if (/^multipart\//i.test(contentType ?? '')) {
      problems.add(`${at}.contentType`, 'must not be multipart; attach the parts as files');
    }
    if (contentId != null && !CONTENT_ID.test(contentId)) {
      problems.add(`${at}.contentId`, 'must be 1 to 200 letters, digits, or any of . _ + - @');
    } else if (contentId != null && contentIds.has(contentId)) {
      problems.add(`${at}.contentId`, 'is already the content id of another attachment');
    } else if (contentId != null) contentIds.add(contentId);
    const bytes = Buffer.from(content, 'base64');
    return {
      filename: name,
      content: bytes,
      contentType: contentType ?? null,
      contentId: contentId ?? null,
      alternative: false,
      beforeHtml: false,
    };
  });
}

const toAlternative = ({ contentType, content, beforeHtml }: AlternativeInput): Attachment => ({
  filename: '',
  content,
  contentType,
  contentId: null,
  alternative: true,
  beforeHtml,
});

function readTags(given: readonly string[], path: string, problems: Problems): string[] {
  if (given.length > 20) problems.add(path, 'must be at most 20 tags');
  given.forEach((tag, index) => {
    const problem = displayNameProblem(tag, MAX_TAG_LENGTH);
    if (problem !== undefined) problems.add(`${path}.${index}`, problem);
  });
  return [...new Set(given.map(normalizeText))];
}

function readMetadata(given: unknown, path: string, problems: Problems): Record<string, unknown> {
  const metadata = readObject(given, path, problems);
  if (JSON.stringify(metadata).length > MAX_METADATA_LENGTH) {
    problems.add(path, `must be at most ${MAX_METADATA_LENGTH} characters of JSON`);
  }
  return metadata;
}

/** Reads a JSON object; an absent value becomes an empty one. */
export function readObject(given: unknown, path: string, problems: Problems): Record<string, unknown> {
  if (given === undefined || given === null) return {};
  if (typeof given === 'object' && !Array.isArray(given)) return given as Record<string, unknown>;
  problems.add(path, 'must be an object');
  return {};
}

function readScheduledAt(given: Date | null | undefined, path: string, problems: Problems): Date | null {
  if (given == null) return null;
  const problem = scheduleProblem(given);
  if (problem !== undefined) problems.add(path, problem);
  return given;
}

/** Why mail can't be scheduled for a time; undefined if it can. */
export function scheduleProblem(at: Date): string | undefined {
  const now = databaseNow();
  if (at.getTime() <= now) return 'must be in the future';
  if (at.getTime() > now + MAX_SCHEDULE_DAYS * DAY_MS) return `must be at most ${MAX_SCHEDULE_DAYS} days in the future`;
  return undefined;
}

/** The unique recipients, starting with the first of `to`. */
export function recipientsOf({ to, cc, bcc, recipients }: ReadEmail): Mailbox[] {
  const byKey = new Map<string, Mailbox>();
  for (const mailbox of recipients ?? [...to, ...cc, ...bcc]) {
    const key = emailKey(mailbox.email);
    if (!byKey.has(key)) byKey.set(key, mailbox);
  }
  return [...byKey.values()];
}
