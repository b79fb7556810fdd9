import { findRecipient, type MessageRecipient } from '@postroom/unsubscribe';
import { databaseTime, inTransaction, logger, pool, sql, type Tx } from '@postroom/platform';
import { runForReport } from '@postroom/projects';
import { cellOf, forwardTo, MAX_HOPS, otherCells, PROJECTS_BY } from '@postroom/projects/cells';
import { namedAddresses } from './named.ts';
import { recordLateReport, recordReports, type Report, waitUntilSettled } from './reports.ts';
import { parseReturnAddress, type ReturnAddress } from './return-address.ts';

/** How a bounce or complaint refers to a project, as `PROJECTS_BY`. */
export const BOUNCES_BY = {
  message: 'SELECT project_id AS id FROM messages WHERE id = $1',
  mail_from: 'SELECT project_id AS id FROM domains WHERE mail_from_domain = $1 LIMIT 1',
} as const;

/** What another cell forwards. */
export const REPORT = 'report';

/** A bounce or complaint, as far as it can be read without its message. */
export interface ReceivedReport extends Pick<Report, 'kind' | 'detail'> {
  /** The signed return address of the message. */
  address: string;
  /** The recipient, by the unsubscribe link in the quoted headers, which proves it. */
  linked?: MessageRecipient | undefined;
  /** The addresses in the mail, which prove nothing. */
  named: readonly string[];
}

/** Reads what identifies the recipient of a message that may have been deleted. */
export function readReport(
  raw: Buffer,
  { address, messageId }: ReturnAddress,
  { kind, detail }: Pick<Report, 'kind' | 'detail'>,
): ReceivedReport {
  const text = raw.toString('utf8').replaceAll(/=\r?\n/g, '');
  return { address, kind, detail, linked: findRecipient(text, messageId), named: namedAddresses(text) };
}

/** Whether a MAIL FROM subdomain is ours, in this cell or another. @throws RetryLater if another cell does not answer. */
export async function isMailFromDomain(domain: string): Promise<boolean> {
  const { rowCount } = await pool.query(BOUNCES_BY.mail_from, [domain]);
  return rowCount === 1 || (await cellOf({ kind: 'mail_from', name: domain, sql: BOUNCES_BY.mail_from })) !== undefined;
}

/**
 * Records a bounce or complaint like a provider's report, in the cell that has the message.
 * @param options.hops how often it was forwarded.
 * @param options.project that of the message, if it is known.
 * @throws RetryLater if another cell has to be asked and does not answer; RateLimited if many reports of the project wait.
 */
export async function recordReceivedReport(
  received: ReceivedReport,
  { hops = 0, project: known }: { hops?: number; project?: string | undefined } = {},
): Promise<void> {
  const address = parseReturnAddress(received.address);
  if (address === undefined) return;
  const cell = hops < MAX_HOPS ? await cellOfReport(received, address) : undefined;
  if (cell !== undefined) return forwardTo(cell, REPORT, received, hops);
  const { messageId } = address;
  const { kind, detail } = received;
  const report = { messageId, kind, at: databaseTime(), ...(detail !== undefined && { detail }) };
  // A report about a deleted message changes nothing unless it proves its project, which is that of the link or of the domain.
  const project = known ?? (await projectOf(messageId)) ?? received.linked?.projectId ?? address.domain;
  await runForReport(project, async () => {
    await waitUntilSettled(messageId);
    await inTransaction(async (client) => {
      // Lock the row so that it can't be deleted before the report is recorded.
      const { rowCount } = await client.query('SELECT FROM messages WHERE id = $1 FOR KEY SHARE', [messageId]);
      if (rowCount === 1) return recordReports(client, [report]);
      const recipient = await provenRecipient(client, received, address);
      if (recipient !== undefined) await recordLateReport(client, recipient, report);
    });
  });
  logger.info({ messageId, kind }, 'bounce recorded');
}

/** The project of a message; undefined if it was deleted. */
export async function projectOf(messageId: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>(BOUNCES_BY.message, [messageId]);
  return rows[0]?.id;
}

/** The cell that has the message or, if it was deleted, the project; undefined if it is this one, or none. */
async function cellOfReport(
  { linked }: ReceivedReport,
  { messageId, domain }: ReturnAddress,
): Promise<string | undefined> {
  if (otherCells().length === 0) return undefined;
  const cell = await cellOf({ kind: 'message', name: messageId, sql: BOUNCES_BY.message });
  if (cell !== undefined) return cell;
  if ((await projectOf(messageId)) !== undefined) return undefined;
  return linked === undefined
    ? cellOf({ kind: 'mail_from', name: domain, sql: BOUNCES_BY.mail_from })
    : cellOf({ kind: 'project', name: linked.projectId, sql: PROJECTS_BY.project });
}

/**
 * Determines whom a deleted message was sent to, if the bounce proves it: by the message's unsubscribe link in the quoted
 * headers, or by an address that the return address was signed for. An unsigned address proves nothing: every recipient of a
 * message knows a return address and could put any other address next to it.
 */
async function provenRecipient(
  client: Tx,
  { linked, named }: ReceivedReport,
  address: ReturnAddress,
): Promise<MessageRecipient | undefined> {
  if (linked !== undefined) return linked;
  if (named.length === 0) return undefined;
  const projects = await sql<{ projectId: string }>(
    client,
    'SELECT DISTINCT project_id AS "projectId" FROM domains WHERE mail_from_domain = $1',
    [address.domain],
  );
  return projects
    .flatMap(({ projectId }) => named.map((email) => ({ projectId, email })))
    .find((each) => address.isOf(each));
}
