import type { IncomingMessage, ServerResponse } from 'node:http';
import { config, db, emailProblem, guardedFetch, inTransaction, logger } from '@postroom/platform';
import { recordLateReport, recordReports } from '@postroom/bounces';
import { reportOf } from './events.ts';
import type { SesSettings } from './ses.ts';
import { isSignedBy, isSnsUrl, type SnsMessage, snsMessage } from './sns.ts';

/** The path that events of SES are posted below. */
export const SES_PATH = '/providers/ses/';

/** SNS posts 256 KB at most. */
const MOST_BYTES = 300 * 1024;
const FETCH_MS = 8_000;
/** Past this, SNS does not deliver a message again. */
const REMEMBERED = '7 days';

/** Reads a page of SNS itself: a certificate, or the answer to a confirmation. */
export type GetFromSns = (url: string) => Promise<string>;

/** What went wrong, as it is answered. SNS tries again later when it is told 500 or more. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Answers `POST /providers/ses/{token}`, where SNS posts what became of mail. A message is taken when SNS signed it and it
 * comes by the topic that the provider names; its certificate is fetched from SNS alone. One that comes again changes nothing.
 */
export async function handleSesNotification(
  request: IncomingMessage,
  response: ServerResponse,
  get: GetFromSns = getFromSns,
): Promise<void> {
  try {
    if (request.method !== 'POST') throw new Refusal(405, 'Only POST does something here.');
    const token = (request.url ?? '').slice(SES_PATH.length).split('?', 1)[0] ?? '';
    const provider = await db.mailProvider.findFirst({ where: { token, kind: 'ses' } });
    if (provider === null) throw new Refusal(404, 'There is nothing at this address.');
    const message = await readMessage(request);
    const { topicArn } = provider.settings as unknown as SesSettings;
    if (message.TopicArn !== topicArn) throw new Refusal(403, 'This topic is not the one that the provider names.');
    await checkSignature(message, get);
    if (message.Type === 'SubscriptionConfirmation') await confirm(provider.id, message, get);
    else if (message.Type === 'Notification') await take(provider, message);
    response.writeHead(200).end();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    request.resume();
    response.writeHead(error.status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${error.message}\n`);
  }
}

async function readMessage(request: IncomingMessage): Promise<SnsMessage> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_BYTES) throw new Refusal(413, 'A message of SNS is not that long.');
    chunks.push(chunk);
  }
  try {
    return snsMessage.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  } catch {
    throw new Refusal(400, 'This is not a message of SNS.');
  }
}

/** Certificates by their address; SNS changes them about once a year. */
const certificates = new Map<string, Promise<string>>();
const MOST_CERTIFICATES = 50;

async function checkSignature(message: SnsMessage, get: GetFromSns): Promise<void> {
  const { SigningCertURL: url } = message;
  if (!isSnsUrl(url)) throw new Refusal(403, 'The certificate is not one of SNS.');
  if (certificates.size >= MOST_CERTIFICATES) certificates.clear();
  const fetching = certificates.get(url) ?? get(url);
  certificates.set(url, fetching);
  let pem: string;
  try {
    pem = await fetching;
  } catch (error) {
    certificates.delete(url);
    logger.warn({ err: error }, 'a certificate of SNS could not be fetched');
    throw new Refusal(503, 'The certificate could not be fetched; try again later.');
  }
  if (!isSigned(message, pem)) throw new Refusal(403, 'The signature is not one of SNS.');
}

function isSigned(message: SnsMessage, pem: string): boolean {
  try {
    return isSignedBy(message, pem);
  } catch {
    return false; // what was fetched is no certificate
  }
}

async function confirm(providerId: string, { SubscribeURL: url = '' }: SnsMessage, get: GetFromSns): Promise<void> {
  if (!isSnsUrl(url)) throw new Refusal(403, 'The page to confirm at is not one of SNS.');
  try {
    await get(url);
  } catch (error) {
    logger.warn({ err: error }, 'a subscription of SNS could not be confirmed');
    throw new Refusal(503, 'The subscription could not be confirmed; try again later.');
  }
  await db.mailProvider.update({ where: { id: providerId }, data: { subscribedAt: new Date() } });
}

/** Records what a message tells, once. Only of mail of the provider's own project: whoever owns a topic may publish anything. */
async function take({ id, projectId }: { id: string; projectId: string }, message: SnsMessage): Promise<void> {
  const report = reportOf(message.Message);
  await inTransaction(async (client) => {
    const { rowCount } = await client.query(
      'INSERT INTO provider_notifications (provider_id, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [id, message.MessageId],
    );
    if (rowCount === 0) return;
    await client.query(
      `DELETE FROM provider_notifications WHERE (provider_id, message_id) IN (
         SELECT provider_id, message_id FROM provider_notifications WHERE received_at < now() - interval '${REMEMBERED}'
         ORDER BY received_at LIMIT 10 FOR UPDATE SKIP LOCKED)`,
    );
    if (report === undefined) return;
    const { rows } = await client.query<{ project_id: string }>('SELECT project_id FROM messages WHERE id = $1', [
      report.messageId,
    ]);
    const { destination: email } = report;
    if (rows[0]?.project_id === projectId) await recordReports(client, [report]);
    else if (rows.length === 0 && email !== undefined && emailProblem(email) === undefined)
      await recordLateReport(client, { projectId, email }, report);
  });
  await db.mailProvider.updateMany({
    where: { id, OR: [{ notifiedAt: null }, { notifiedAt: { lt: new Date(Date.now() - 60_000) } }] },
    data: { notifiedAt: new Date() },
  });
}

/** The URL is known to be one of SNS; nobody else is asked, and no redirect is followed. */
const getFromSns: GetFromSns = async (url) => {
  const answer = await guardedFetch(url, config.providerScope, { signal: AbortSignal.timeout(FETCH_MS) });
  if (!answer.ok) throw new Error(`SNS answered with ${answer.status}.`);
  return answer.text();
};
