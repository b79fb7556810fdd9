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

/**
 * Reads a mail that came back and commits what it says, as a provider's report would. Nothing is ever sent in answer, so that
 * no loop can begin here.
 */
export async function recordBounce(recipient: Recipient, raw: Buffer): Promise<void> {
  const returned = await parseBounce(raw);
  const address = recipient.kind === 'message' ? recipient.address : complainedOf(raw, returned.kind);
  const messageId = address?.messageId;
  if (returned.kind === 'ignored' || address === undefined || messageId === undefined) {
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
    // Held, so that it is not deleted between the two.
    const { rowCount } = await client.query('SELECT FROM messages WHERE id = $1 FOR KEY SHARE', [messageId]);
    if (rowCount === 1) return recordReports(client, [report]);
    const addressed = await addressedIn(client, raw, address);
    if (addressed !== undefined) await recordLateReport(client, addressed, report);
  });
  logger.info({ messageId, kind: report.kind }, 'a returned mail was recorded');
}

/** To the address of feedback loops only complaints go, about a mail whose signed return address they show. */
function complainedOf(raw: Buffer, kind: string): ReturnAddress | undefined {
  return kind === 'complained' ? findReturnAddress(raw.toString('latin1')) : undefined;
}

/**
 * Whom a message went to that has been deleted, as the mail that came back proves: by the message's own link to unsubscribe by, in
 * the headers that it quotes, or by an address that it names and that the return address was signed for. A name alone proves
 * nothing: everybody who ever got a mail knows a return address, and could write another name beside it.
 */
async function addressedIn(client: Tx, raw: Buffer, address: ReturnAddress): Promise<Addressed | undefined> {
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
