import type { AlternativeInput } from '@postroom/emails';
import PostalMime, { type Email } from 'postal-mime';

/** A part of a mail, as the library has it; what it declares of itself leaves this out. */
interface Part {
  parentNode?: Part;
  contentType: { value: string; parsed: { value: string; params: Record<string, string> }; multipart: string | false };
  contentTransferEncoding: { encoding: string };
  contentDisposition: { parsed: { value: string } };
}

type Collect = (this: PostalMime, part: Part, content: ArrayBuffer, ...rest: unknown[]) => void;

const { collectAttachment } = PostalMime.prototype as unknown as { collectAttachment: Collect };

/**
 * Reads a mail, and keeps apart the forms of its body beside text and HTML, such as an invitation or AMP: the library would take them
 * for files.
 */
export class MailParser extends PostalMime {
  readonly alternatives: AlternativeInput[] = [];

  collectAttachment(part: Part, content: ArrayBuffer, ...rest: unknown[]): void {
    const isForm = part.parentNode?.contentType.multipart === 'alternative';
    if (!isForm || part.contentDisposition.parsed.value === 'attachment')
      return collectAttachment.call(this, part, content, ...rest);
    this.alternatives.push({ contentType: typeOf(part), content: bytesOf(part, content) });
  }
}

/** A text that came as lines has CRLF between them; the library has made it LF, with one more at the end. What came as base64 is as it was. */
function bytesOf({ contentType: { parsed }, contentTransferEncoding }: Part, content: ArrayBuffer): Buffer {
  const bytes = Buffer.from(content);
  if (!parsed.value.startsWith('text/') || /base64/i.test(contentTransferEncoding.encoding)) return bytes;
  return Buffer.from(bytes.toString('latin1').replace(/\n$/, '').replace(/\r?\n/g, '\r\n'), 'latin1');
}

const PARAMETER = /^[\w.+*-]{1,50}$/;

/** Its type with the parameters that it was sent with. */
function typeOf({ contentType: { parsed } }: Part): string {
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(parsed.value) ? parsed.value : 'application/octet-stream';
  const parameters = Object.entries(parsed.params).flatMap(([name, value]) => {
    // oxlint-disable-next-line no-control-regex -- it stands in a header
    const isSafe = PARAMETER.test(name) && /^[\u0020-\u007e]{1,200}$/.test(value) && !/["\\]/.test(value);
    if (!isSafe) return [];
    return [/^[\w.+-]+$/.test(value) ? `; ${name}=${value}` : `; ${name}="${value}"`];
  });
  return type + parameters.join('');
}

/** A mail, and the forms of its body beside text and HTML. */
export interface ParsedMail {
  mail: Email;
  alternatives: AlternativeInput[];
}

/** Parses a mail; runs on a thread of the pool, since many lines take long. */
export async function parseSubmitted(raw: Uint8Array): Promise<ParsedMail> {
  const parser = new MailParser({ maxNestingDepth: 50, forceRfc822Attachments: true });
  const mail = await parser.parse(raw);
  return { mail, alternatives: parser.alternatives };
}
