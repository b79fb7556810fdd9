import type { Email } from '@postroom/mime/parse';
import { IsolatedCallError } from '@postroom/platform';
import { parseMail } from './parse-mail.ts';
import { readComplaint } from './complaints.ts';
import { readStatus } from './delivery-status.ts';
import { ignoredReason } from './ignored.ts';
import type { BounceReport } from './bounce.ts';
import { readText } from './text-bounces.ts';

/** Maximum nesting depth of MIME parts. */
const MAX_NESTING = 20;
const MAX_HEADERS_BYTES = 256 * 1024;

/**
 * Parses a bounce: delivery status notifications (RFC 3464), complaints (RFC 5965) and non-standard bounce text. Anything
 * unrecognized is ignored, because a wrong guess could suppress a recipient who wants the mail.
 * @param caller the fairness key, such as the project.
 * @throws DomainError `rate_limited` or Error if it could not be parsed now; the same mail may be later.
 */
export async function parseBounce(caller: string, raw: Uint8Array): Promise<BounceReport> {
  let mail: Email;
  try {
    mail = await parseMail(caller, raw, {
      forceRfc822Attachments: true,
      maxNestingDepth: MAX_NESTING,
      maxHeadersSize: MAX_HEADERS_BYTES,
    });
  } catch (error) {
    if (!(error instanceof IsolatedCallError)) throw error;
    return { kind: 'ignored', why: 'it could not be parsed' };
  }
  return interpret(mail);
}

/** Interprets a parsed mail as a bounce report. */
export function interpret(mail: Email): BounceReport {
  const structured = readComplaint(mail) ?? readStatus(mail);
  if (structured !== undefined) return structured;
  const ignored = ignoredReason(mail);
  if (ignored !== undefined) return { kind: 'ignored', why: ignored };
  return readText(mail) ?? { kind: 'ignored', why: 'it is not a bounce' };
}
