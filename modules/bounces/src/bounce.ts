import type { Email } from '@postroom/mime/parse';

/** What a mail to a return address reports about the original message. */
export type BounceReport =
  /** `detail` is the server's reply, with its code if there is one, for `classify`. */
  | { kind: 'bounced'; detail: string }
  | { kind: 'complained'; detail: string }
  | { kind: 'delivered' }
  /** Nothing to record: a delay, a reply from a human or an autoresponder, or an unreadable mail. */
  | { kind: 'ignored'; why: string };

/** The text of the first attachment of a MIME type; reports are attachments. */
export function attachmentText(mail: Email, type: RegExp): string | undefined {
  const part = mail.attachments.find(({ mimeType }) => type.test(mimeType));
  if (part === undefined) return undefined;
  return typeof part.content === 'string' ? part.content : new TextDecoder().decode(part.content);
}

/** Parses blank-line-separated groups of `Name: value` lines, unfolding lines; names are lower case. */
export function fieldGroups(text: string): Map<string, string>[] {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]+/g, ' ')
    .split(/\n{2,}/)
    .map((group) => new Map(group.split('\n').flatMap(readField)))
    .filter((fields) => fields.size > 0);
}

function readField(line: string): [string, string][] {
  const [, name, value] = /^([\w-]+)\s*:(.*)$/s.exec(line) ?? [];
  return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value.trim()]];
}
