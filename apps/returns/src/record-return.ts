import { findReturnAddress, readReturn, recordReports, type Report } from '@postroom/emails';
import { inTransaction, logger } from '@postroom/platform';
import type { Recipient } from './recipients.ts';

/**
 * Reads a mail that came back and commits what it says, as a provider's report would. Nothing is ever sent in answer, so that
 * no loop can begin here.
 */
export async function recordReturn(recipient: Recipient, raw: Buffer): Promise<void> {
  const returned = await readReturn(raw);
  const messageId = recipient.kind === 'message' ? recipient.messageId : complainedOf(raw, returned.kind);
  if (returned.kind === 'ignored' || messageId === undefined) {
    const why = returned.kind === 'ignored' ? returned.why : 'it names no message of ours';
    logger.info({ messageId, why }, 'a returned mail was ignored');
    return;
  }
  const report: Report = {
    messageId,
    kind: returned.kind,
    at: new Date(),
    ...('detail' in returned ? { detail: returned.detail } : {}),
  };
  await inTransaction((client) => recordReports(client, [report]));
  logger.info({ messageId, kind: report.kind }, 'a returned mail was recorded');
}

/** To the address of feedback loops only complaints go, about a mail whose signed return address they show. */
function complainedOf(raw: Buffer, kind: string): string | undefined {
  return kind === 'complained' ? findReturnAddress(raw.toString('latin1')) : undefined;
}
