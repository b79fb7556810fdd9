import { decodeWords } from '@postroom/mime/parse';

/** What the inbox lists show of a mail, read without parsing its body. */
export interface Summary {
  /** Without angle brackets; `undefined` if there is none. */
  messageId: string | undefined;
  sender: string;
  subject: string;
}

const END_OF_HEADERS = /\r?\n\r?\n/;
/** More than any real header needs; the rest is ignored. */
const MAX_HEADER_BYTES = 64 * 1024;
/** PostgreSQL's text can't hold NUL, and a list shows one line. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001F\u007F]+/g;

/** Reads the three headers that lists show. Parsing every mail completely would cost more than storing it. */
export function summarize(raw: Buffer): Summary {
  const head = raw.toString('utf8', 0, MAX_HEADER_BYTES).split(END_OF_HEADERS, 1)[0]!;
  const value = (name: string) => new RegExp(`^${name}:((?:.|\\r?\\n[ \\t])*)`, 'im').exec(head)?.[1];
  const text = (name: string) =>
    decodeWords((value(name) ?? '').replace(/\r?\n(?=[ \t])/g, ''))
      .replace(CONTROL, ' ')
      .trim();
  const messageId = /[^\s<>]+/.exec(value('Message-ID')?.replace(CONTROL, ' ') ?? '')?.[0];
  return { messageId, sender: text('From'), subject: text('Subject') };
}
