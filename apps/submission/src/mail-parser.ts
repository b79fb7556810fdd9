import { isUtf8 } from 'node:buffer';
import type { AlternativeInput } from '@postroom/emails';
import PostalMime, { decodeWords, type Email } from '@postroom/mime/parse';

/** A node of the library; its types don't include it. */
interface Part {
  parentNode?: Part;
  childNodes: Part[];
  contentType: { value: string; parsed: { value: string; params: Record<string, string> }; multipart: string | false };
  contentTransferEncoding: { encoding: string };
  contentDisposition: { parsed: { value: string } };
  /** Of a part with parts: what precedes them. */
  content: ArrayBuffer | null;
}

interface Collector {
  collectAttachment: (this: PostalMime, part: Part, content: ArrayBuffer, ...rest: unknown[]) => void;
  collectNode: (this: PostalMime, part: Part, ...rest: unknown[]) => Promise<void>;
}

const { collectAttachment, collectNode } = PostalMime.prototype as unknown as Collector;

/** Maximum alternative body parts; one more is collected, so that the mail can be refused. */
export const MAX_ALTERNATIVES = 50;

/** Parses a mail and separates alternative body parts such as invitations or AMP, which the library treats as attachments. */
export class MailParser extends PostalMime {
  readonly alternatives: AlternativeInput[] = [];
  /** Whether a multipart has content but no parts, because its boundary is missing or another one. */
  lacksParts = false;

  async collectNode(part: Part, ...rest: unknown[]): Promise<void> {
    const { multipart, parsed } = part.contentType;
    const content = Buffer.from(part.content ?? new ArrayBuffer(0));
    if (multipart !== false && part.childNodes.length === 0) this.lacksParts ||= content.toString().trim() !== '';
    // The library takes it for UTF-8, which would lose the characters that are not.
    if (isText(part) && parsed.params['charset'] === undefined && !isUtf8(content))
      parsed.params['charset'] = 'windows-1252';
    await collectNode.call(this, part, ...rest);
  }

  collectAttachment(part: Part, content: ArrayBuffer, ...rest: unknown[]): void {
    // A reply to an invitation may consist of its calendar part alone.
    const isBody = part.parentNode === undefined && part.contentType.parsed.value === 'text/calendar';
    const isAlternative = isBody || part.parentNode?.contentType.multipart === 'alternative';
    if (!isAlternative || part.contentDisposition.parsed.value === 'attachment') {
      collectAttachment.call(this, part, content, ...rest);
      // The library leaves out the parameters, and rewrites calendars.
      const { attachments } = this as unknown as Pick<Email, 'attachments'>;
      Object.assign(attachments.at(-1)!, { mimeType: typeOf(part, 'name'), content: bytesOf(part, content) });
      return;
    }
    if (this.alternatives.length > MAX_ALTERNATIVES) return; // the mail will be refused
    this.alternatives.push({
      contentType: typeOf(part),
      content: bytesOf(part, content),
      beforeHtml: isBeforeHtml(part),
    });
  }
}

const isText = ({ contentType, contentDisposition }: Part) =>
  /^text\/(plain|html)$/.test(contentType.parsed.value) && contentDisposition.parsed.value !== 'attachment';

/** Whether no part before it holds the HTML: the last part that a client supports is the one it shows. */
function isBeforeHtml(part: Part): boolean {
  const parts = part.parentNode?.childNodes ?? [];
  return !parts.slice(0, parts.indexOf(part)).some(hasHtml);
}

const hasHtml = ({ contentType, childNodes }: Part): boolean =>
  contentType.parsed.value === 'text/html' || childNodes.some(hasHtml);

/** Restores CRLF in parts sent as lines: the library converts them to LF and appends one. Base64 content is unchanged. */
function bytesOf({ contentTransferEncoding }: Part, content: ArrayBuffer): Buffer {
  const bytes = Buffer.from(content);
  if (/base64/i.test(contentTransferEncoding.encoding)) return bytes;
  return Buffer.from(bytes.toString('latin1').replace(/\n$/, '').replace(/\r?\n/g, '\r\n'), 'latin1');
}

const PARAMETER = /^[\w.+-]{1,50}$/;

/** The content type with its original parameters, except one. */
function typeOf({ contentType: { parsed } }: Part, except?: string): string {
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(parsed.value) ? parsed.value : 'application/octet-stream';
  const parameters = Object.entries(parsed.params).flatMap(([name, value]) => {
    // oxlint-disable-next-line no-control-regex -- it goes into a header
    const isSafe =
      name !== except && PARAMETER.test(name) && /^[\u0020-\u007e]{1,200}$/.test(value) && !/["\\]/.test(value);
    if (!isSafe) return [];
    return [/^[\w.+-]+$/.test(value) ? `; ${name}=${value}` : `; ${name}="${value}"`];
  });
  return type + parameters.join('');
}

/** Maximum size of all headers, those of the parts included. */
const MAX_HEADERS_BYTES = 512 * 1024;

/** A parsed mail with its alternative body parts. */
export interface ParsedMail {
  mail: Email;
  alternatives: AlternativeInput[];
  /** The values of its headers, without encoded words. */
  headerValues: string[];
  /** Whether content is lost, because it is in a multipart without parts. */
  lacksParts: boolean;
}

/** Parses a mail; runs in another process, because mail with many lines is slow to parse. */
export async function parseSubmitted(raw: Uint8Array): Promise<ParsedMail> {
  const parser = new MailParser({
    maxNestingDepth: 50,
    maxHeadersSize: MAX_HEADERS_BYTES,
    forceRfc822Attachments: true,
  });
  const mail = await parser.parse(withHeadersInUtf8(raw));
  const headerValues = mail.headers.map(({ value }) => decodeWords(value));
  return { mail, alternatives: parser.alternatives, headerValues, lacksParts: parser.lacksParts };
}

/** Converts headers in an 8-bit charset, which they cannot name. */
function withHeadersInUtf8(raw: Uint8Array): Uint8Array {
  const end = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).indexOf('\r\n\r\n');
  const headers = raw.subarray(0, end === -1 ? raw.length : end);
  if (isUtf8(headers)) return raw;
  const converted = Buffer.from(new TextDecoder('windows-1252').decode(headers));
  return Buffer.concat([converted, raw.subarray(headers.length)]);
}
