import type { Email } from 'postal-mime';

/** What a mail to a return address says of the message it is about. */
export type BounceReport =
  /** `detail` is what the table of replies reads: the words of a server, with a code where there was one. */
  | { kind: 'bounced'; detail: string }
  | { kind: 'complained'; detail: string }
  | { kind: 'delivered' }
  /** It says nothing that counts: a delay, an answer of a person or a program, a mail that nobody can read. */
  | { kind: 'ignored'; why: string };

/** The text of a part that came as an attachment, as notifications do. */
export function partOf(mail: Email, type: RegExp): string | undefined {
  const part = mail.attachments.find(({ mimeType }) => type.test(mimeType));
  if (part === undefined) return undefined;
  return typeof part.content === 'string' ? part.content : new TextDecoder().decode(part.content);
}

/** Groups of `Name: value` lines, with folded lines made one; names in lower case. */
export function fieldGroups(text: string): Map<string, string>[] {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]+/g, ' ')
    .split(/\n{2,}/)
    .map((group) => new Map(group.split('\n').flatMap(readField)))
    .filter((fields) => fields.size > 0);
}

function readField(line: string): [string, string][] {
  const [, name, value] = /^([\w-]+)\s*:\s*(.*)$/.exec(line) ?? [];
  return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value.trim()]];
}
