import {
  findAddressed,
  findReturnAddress,
  readReturn,
  recordLateReport,
  recordReports,
  type Report,
} from '@postroom/emails';
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
  await inTransaction(async (client) => {
    const { rowCount } = await client.query('SELECT FROM messages WHERE id = $1', [messageId]);
    if (rowCount === 1) return recordReports(client, [report]);
    // Whom a message went to that has been deleted is told by its own link to unsubscribe by, in the headers that came back.
    const addressed = findAddressed(raw.toString('latin1').replaceAll(/=\r?\n/g, ''), messageId);
    if (addressed !== undefined) await recordLateReport(client, addressed, report);
  });
  logger.info({ messageId, kind: report.kind }, 'a returned mail was recorded');
}

/** To the address of feedback loops only complaints go, about a mail whose signed return address they show. */
function complainedOf(raw: Buffer, kind: string): string | undefined {
  return kind === 'complained' ? findReturnAddress(raw.toString('latin1')) : undefined;
}
