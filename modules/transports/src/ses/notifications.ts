import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import {
  config,
  databaseNow,
  databaseTime,
  db,
  DomainError,
  emailProblem,
  guardedFetch,
  inTransaction,
  logger,
  readBody,
  STATUS_BY_CODE,
} from '@postroom/platform';
import { recordLateReport, recordReports, waitUntilSettled } from '@postroom/bounces';
import { orHold, runForReport } from '@postroom/projects';
import { reportOf } from './events.ts';
import type { SesSettings } from './ses.ts';
import { isSignedBy, isSnsUrl, type SnsMessage, snsMessage } from './sns.ts';
import { TRANSPORT_POLICY } from '../policy.ts';

/** Path prefix for SES event notifications. */
export const SES_PATH = '/providers/ses/';

const {
  maxNotificationBytes: MAX_BYTES,
  snsFetchMs: FETCH_TIMEOUT_MS,
  notificationRetention: RETENTION,
} = TRANSPORT_POLICY.ses;

/** Fetches an SNS URL: a certificate or a subscription confirmation. */
export type GetFromSns = (url: string) => Promise<string>;

/** An error response. SNS retries on 5xx. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Handles `POST /providers/ses/{token}`, to which SNS posts SES events. Accepts messages that SNS signed and that come from the
 * provider's topic; certificates are fetched only from SNS. Redelivered messages have no effect.
 */
export async function handleSesNotification(
  request: IncomingMessage,
  response: ServerResponse,
  get: GetFromSns = getFromSns,
): Promise<void> {
  try {
    if (request.method !== 'POST') throw new Refusal(405, 'Use POST.');
    const token = (request.url ?? '').slice(SES_PATH.length).split('?', 1)[0] ?? '';
    const provider = await db.mailProvider.findFirst({ where: { token, kind: 'ses' } });
    if (provider === null) throw new Refusal(404, 'Not found.');
    const message = await readMessage(request);
    const { topicArn } = provider.settings as unknown as SesSettings;
    if (message.TopicArn !== topicArn)
      throw new Refusal(403, 'The topic does not match the one configured for this provider.');
    await runForReport(provider.projectId, async () => {
      await checkSignature(message, get);
      if (message.Type === 'SubscriptionConfirmation') await confirm(provider.id, message, get);
      else if (message.Type === 'Notification') await recordOrHold(provider, message);
    });
    response.writeHead(200).end();
  } catch (error) {
    const status = statusOf(error);
    if (status === undefined) throw error;
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${(error as Error).message}\n`);
  }
}

/** The status of a response to an error that the poster should know; undefined for others. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof Refusal) return error.status;
  if (!(error instanceof DomainError)) return undefined;
  return error.code === 'rate_limited' ? 503 : STATUS_BY_CODE[error.code];
}

async function readMessage(request: IncomingMessage): Promise<SnsMessage> {
  const body = await readBody(request, MAX_BYTES);
  try {
    return snsMessage.parse(JSON.parse(body.toString('utf8')));
  } catch {
    throw new Refusal(400, 'Not an SNS message.');
  }
}

/** Certificates by URL; SNS rotates them about once a year. */
const certificates = new LRUCache<string, string, GetFromSns>({
  max: 50,
  ignoreFetchAbort: true,
  fetchMethod: (url, _stale, { context: get }) => get(url),
});

async function checkSignature(message: SnsMessage, get: GetFromSns): Promise<void> {
  const { SigningCertURL: url } = message;
  if (!isSnsUrl(url)) throw new Refusal(403, 'The certificate URL does not belong to SNS.');
  let pem: string;
  try {
    pem = await certificates.forceFetch(url, { context: get });
  } catch (error) {
    logger.warn({ err: error }, 'SNS certificate fetch failed');
    throw new Refusal(503, 'The certificate could not be fetched; try again later.');
  }
  if (!isSigned(message, pem)) throw new Refusal(403, 'The signature is invalid.');
}

function isSigned(message: SnsMessage, pem: string): boolean {
  try {
    return isSignedBy(message, pem);
  } catch {
    return false; // not a certificate
  }
}

async function confirm(providerId: string, { SubscribeURL: url = '' }: SnsMessage, get: GetFromSns): Promise<void> {
  if (!isSnsUrl(url)) throw new Refusal(403, 'The confirmation URL does not belong to SNS.');
  try {
    await get(url);
  } catch (error) {
    logger.warn({ err: error }, 'SNS subscription confirmation failed');
    throw new Refusal(503, 'The subscription could not be confirmed; try again later.');
  }
  await db.mailProvider.update({ where: { id: providerId }, data: { subscribedAt: databaseTime() } });
}

interface SesProvider {
  id: string;
  projectId: string;
  /** The last part of the URL that SNS posts to. */
  token: string;
}

/** SNS repeats a notification for a minute only, unless the topic's owner has set more. */
const recordOrHold = (provider: SesProvider, message: SnsMessage): Promise<void> =>
  orHold(
    {
      projectId: provider.projectId,
      key: `ses/${provider.id}/${message.MessageId}`,
      path: SES_PATH + provider.token,
      body: JSON.stringify(message),
    },
    () => recordNotification(provider, message),
  );

/** Records a message's report once, and only for the provider's own project: a topic's owner can publish anything. */
async function recordNotification({ id, projectId }: SesProvider, message: SnsMessage): Promise<void> {
  const report = reportOf(message.Message);
  if (report !== undefined) await waitUntilSettled(report.messageId);
  await inTransaction(async (client) => {
    const { rowCount } = await client.query(
      'INSERT INTO provider_notifications (provider_id, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [id, message.MessageId],
    );
    if (rowCount === 0) return;
    await client.query(
      `DELETE FROM provider_notifications WHERE (provider_id, message_id) IN (
         SELECT provider_id, message_id FROM provider_notifications WHERE received_at < now() - interval '${RETENTION}'
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
    where: { id, OR: [{ notifiedAt: null }, { notifiedAt: { lt: new Date(databaseNow() - 60_000) } }] },
    data: { notifiedAt: databaseTime() },
  });
}

/** The caller has checked that the URL belongs to SNS; redirects are not followed. */
const getFromSns: GetFromSns = async (url) => {
  const reply = await guardedFetch(url, config.providerScope, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
  if (!reply.ok) throw new Error(`SNS responded with ${reply.status}.`);
  return reply.text();
};
