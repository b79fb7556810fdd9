import type { Email } from '@postroom/mime/parse';
import { detailOf } from './detail.ts';
import { fieldGroups, attachmentText, type BounceReport } from './bounce.ts';

const STATUS_PART = /^message\/(global-)?delivery-status$/i;

/** Parses a delivery status notification (RFC 3464, RFC 6533); undefined if the mail isn't one or has no recipient. */
export function readStatus(mail: Email): BounceReport | undefined {
  const report = attachmentText(mail, STATUS_PART);
  if (report === undefined) return undefined;
  const recipients = fieldGroups(report).filter((fields) => fields.has('action') || fields.has('status'));
  const failed = recipients.find((fields) => actionOf(fields) === 'failed');
  if (failed !== undefined) {
    const { status, diagnostic } = { status: failed.get('status'), diagnostic: failed.get('diagnostic-code') };
    return { kind: 'bounced', detail: detailOf(status, diagnostic, mail.text ?? '') };
  }
  const actions = recipients.map(actionOf);
  if (actions.includes('delayed')) return { kind: 'ignored', why: 'the message is delayed, and still tried' };
  if (actions.includes('delivered')) return { kind: 'delivered' };
  if (actions.includes('relayed')) return { kind: 'ignored', why: 'it was relayed to a server that reports nothing' };
  if (actions.length === 0) return undefined;
  return { kind: 'ignored', why: `the message was ${actions[0]?.slice(0, 40)}` };
}

/** The action; some servers omit it or append text, so fall back to the class of the status code. */
function actionOf(fields: ReadonlyMap<string, string>): string {
  const action = /^[a-z]+/i.exec(fields.get('action') ?? '')?.[0]?.toLowerCase();
  if (action !== undefined) return action;
  const status = fields.get('status') ?? '';
  return status.startsWith('5') ? 'failed' : status.startsWith('4') ? 'delayed' : 'delivered';
}
