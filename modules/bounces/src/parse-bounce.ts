import type { Email } from 'postal-mime';
import { parseMail } from './parse-mail.ts';
import { readComplaint } from './complaints.ts';
import { readStatus } from './delivery-status.ts';
import { ignoredReason } from './ignored.ts';
import type { BounceReport } from './bounce.ts';
import { readText } from './text-bounces.ts';

/** Parts that one mail may hold within one another. */
const MAX_NESTING = 20;
const MAX_HEADERS_BYTES = 256 * 1024;

/**
 * Reads a mail that came back: notifications as RFC 3464 has them, complaints as RFC 5965 has them, and what servers write
 * that never heard of either. What it can't read is ignored, since a guess could stop mail to somebody who wants it.
 */
export async function parseBounce(raw: Uint8Array): Promise<BounceReport> {
  let mail: Email;
  try {
    mail = await parseMail('returned mail', raw, {
      forceRfc822Attachments: true,
      maxNestingDepth: MAX_NESTING,
      maxHeadersSize: MAX_HEADERS_BYTES,
    });
  } catch {
    return { kind: 'ignored', why: 'it can not be parsed' };
  }
  return interpret(mail);
}

/** What a parsed mail says of the message it is about. */
export function interpret(mail: Email): BounceReport {
  const structured = readComplaint(mail) ?? readStatus(mail);
  if (structured !== undefined) return structured;
  const answered = ignoredReason(mail);
  if (answered !== undefined) return { kind: 'ignored', why: answered };
  return readText(mail) ?? { kind: 'ignored', why: 'it does not say that anything came back' };
}
