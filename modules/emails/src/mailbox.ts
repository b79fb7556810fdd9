import {
  emailProblem,
  MAX_MAILBOX_LENGTH,
  MAX_NAME_LENGTH,
  normalizeEmail,
  oneLineProblem,
  senderProblem,
} from '@postroom/platform';
import type { Mailbox } from '@postroom/mime';

const NAMED = /^(?:"((?:[^"\\]|\\.)*)"\s*|([^"<>]*))<([^<>]*)>$/s;

/** Reads `ada@example.com`, `Ada Lovelace <ada@example.com>` or `"Lovelace, Ada" <ada@example.com>`; returns the problem as text if invalid. */
export function parseMailbox(text: string): Mailbox | string {
  if (text.length > MAX_MAILBOX_LENGTH) return `must be at most ${MAX_MAILBOX_LENGTH} characters`;
  const trimmed = text.trim();
  const named = NAMED.exec(trimmed);
  const given = (named?.[3] ?? trimmed).trim();
  const name = named?.[1]?.replace(/\\(.)/gs, '$1') ?? named?.[2]?.trim() ?? '';
  // oxlint-disable-next-line no-control-regex -- a display name is one line
  if (/[\u0000-\u001f\u007f]/.test(trimmed)) return 'must not contain line breaks or other control characters';
  if (named === null && /[<>]/.test(trimmed))
    return 'must be an address or a name and an address, such as Ada <ada@example.com>; a name with " < or > needs quotes and a backslash before each quote inside';
  if (name.length > MAX_NAME_LENGTH) return `must have a name of at most ${MAX_NAME_LENGTH} characters`;
  if (given === '' && named !== null) return 'must have an address in < and >, such as Ada <ada@example.com>';
  const problem = emailProblem(given);
  if (problem !== undefined) return problem;
  const email = normalizeEmail(given);
  return name.trim() === '' ? { email } : { email, name: name.trim() };
}

/** Parses the mailbox of a request. Stored ones are not checked again: the rules for names may have changed since. */
export function checkMailbox(text: string): Mailbox | string {
  const mailbox = parseMailbox(text);
  if (typeof mailbox === 'string') return mailbox;
  const problem = oneLineProblem(mailbox.name ?? '', MAX_NAME_LENGTH);
  return problem === undefined ? mailbox : `has a name that ${problem}`;
}

/** Like `checkMailbox`, for the mailbox of a sender or for replies. */
export function checkSenderMailbox(text: string): Mailbox | string {
  const mailbox = checkMailbox(text);
  return typeof mailbox === 'string' ? mailbox : (senderProblem(mailbox.email) ?? mailbox);
}

/** Formats a mailbox for display; `parseMailbox` reads it back. */
export function formatMailbox({ email, name }: Mailbox): string {
  if (name == null || name === '') return email;
  return /^[\p{L}\p{N} .'-]+$/u.test(name) ? `${name} <${email}>` : `"${name.replace(/["\\]/g, '\\$&')}" <${email}>`;
}
