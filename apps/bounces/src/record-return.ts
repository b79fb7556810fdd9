import { type Addressed, findAddressed } from '@postroom/unsubscribe';
import {
  findReturnAddress,
  namedAddresses,
  parseBounce,
  recordLateReport,
  recordReports,
  type Report,
  type ReturnAddress,
} from '@postroom/bounces';
import { inTransaction, logger, sql, type Tx } from '@postroom/platform';
import type { Recipient } from './recipients.ts';

/** Parses a bounce and records it like a provider's report. Never sends a reply, so it can't start a mail loop. */
export async function recordBounce(recipient: Recipient, raw: Buffer): Promise<void> {
  const parsed = await parseBounce(raw);
  const address = recipient.kind === 'message' ? recipient.address : complaintAddress(raw, parsed.kind);
  const messageId = address?.messageId;
  if (parsed.kind === 'ignored' || address === undefined || messageId === undefined) {
    const why = parsed.kind === 'ignored' ? parsed.why : 'it matches no message';
    logger.info({ messageId, why }, 'bounce ignored');
    return;
  }
  const report: Report = {
    messageId,
    kind: parsed.kind,
    at: new Date(),
    ...('detail' in parsed ? { detail: parsed.detail } : {}),
  };
  await inTransaction(async (client) => {
    // Lock the row so that it can't be deleted before the report is recorded.
    const { rowCount } = await client.query('SELECT FROM messages WHERE id = $1 FOR KEY SHARE', [messageId]);
    if (rowCount === 1) return recordReports(client, [report]);
    const addressed = await provenRecipient(client, raw, address);
    if (addressed !== undefined) await recordLateReport(client, addressed, report);
  });
  logger.info({ messageId, kind: report.kind }, 'bounce recorded');
}

/** Finds the return address in a complaint to the feedback loop address; other mail there is ignored. */
function complaintAddress(raw: Buffer, kind: string): ReturnAddress | undefined {
  return kind === 'complained' ? findReturnAddress(raw.toString('latin1')) : undefined;
}

/**
 * Determines whom a deleted message was sent to, if the bounce proves it: by the message's unsubscribe link in the quoted
 * headers, or by an address that the return address was signed for. An unsigned address proves nothing: every recipient of a
 * message knows a return address and could put any other address next to it.
 */
async function provenRecipient(client: Tx, raw: Buffer, address: ReturnAddress): Promise<Addressed | undefined> {
  const text = raw.toString('utf8').replaceAll(/=\r?\n/g, '');
  const byLink = findAddressed(text, address.messageId);
  if (byLink !== undefined) return byLink;
  const projects = await sql<{ projectId: string }>(
    client,
    'SELECT DISTINCT project_id AS "projectId" FROM domains WHERE mail_from_domain = $1',
    [address.domain],
  );
  const emails = projects.length === 0 ? [] : namedAddresses(text);
  return projects
    .flatMap(({ projectId }) => emails.map((email) => ({ projectId, email })))
    .find((each) => address.isOf(each));
}
