import {
  findReturnAddress,
  parseBounce,
  readReport,
  recordReceivedReport,
  type ReturnAddress,
} from '@postroom/bounces';
import { logger } from '@postroom/platform';
import type { Recipient } from './recipients.ts';

/** Parses a bounce and records it like a provider's report. Never sends a reply, so it can't start a mail loop. */
export async function recordBounce(recipient: Recipient, raw: Buffer): Promise<void> {
  const project = recipient.kind === 'message' ? recipient.project : undefined;
  const caller = recipient.kind === 'message' ? (project ?? 'deleted messages') : recipient.domain;
  const parsed = await parseBounce(caller, raw);
  const address = recipient.kind === 'message' ? recipient.address : complaintAddress(raw, parsed.kind);
  if (parsed.kind === 'ignored' || address === undefined) {
    const why = parsed.kind === 'ignored' ? parsed.why : 'it matches no message';
    logger.info({ messageId: address?.messageId, why }, 'bounce ignored');
    return;
  }
  await recordReceivedReport(readReport(raw, address, parsed), { project });
}

/** Finds the return address in a complaint to the feedback loop address; other mail there is ignored. */
function complaintAddress(raw: Buffer, kind: string): ReturnAddress | undefined {
  return kind === 'complained' ? findReturnAddress(raw.toString('latin1')) : undefined;
}
