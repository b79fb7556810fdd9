import type { Email } from '@postroom/mime/parse';
import { fieldGroups, attachmentText, type BounceReport } from './bounce.ts';

/** Feedback types that mean the recipient did not want the mail. */
const COMPLAINTS = new Set(['abuse', 'fraud', 'opt-out', 'opt-out-list', 'miscategorized', 'other']);

/** Parses an ARF feedback report (RFC 5965); undefined if the mail isn't one. */
export function readComplaint(mail: Email): BounceReport | undefined {
  const report = attachmentText(mail, /^message\/feedback-report$/i);
  if (report === undefined) return undefined;
  const fields = new Map(fieldGroups(report).flatMap((group) => [...group]));
  const type = (fields.get('feedback-type') ?? 'abuse').toLowerCase();
  if (!COMPLAINTS.has(type)) return { kind: 'ignored', why: `a feedback report of type ${type.slice(0, 40)}` };
  const agent = fields.get('user-agent');
  return { kind: 'complained', detail: agent === undefined ? type : `${type} (${agent.slice(0, 100)})` };
}
