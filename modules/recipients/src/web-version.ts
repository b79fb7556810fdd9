import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { type Addressee, compileWebVersion, contentOf, getCampaign } from '@postroom/campaigns';
import { webVersionOfEmail } from '@postroom/emails';
import { OF_ERASED } from '@postroom/ledger';
import { MessageError } from '@postroom/mime';
import { FairSemaphore, pool, sleep } from '@postroom/platform';
import { readTracking } from '@postroom/tracking';
import {
  answerInvalidLink,
  answerPage,
  answerProblem,
  readToken,
  rejectMethod,
  TEST_TOKEN,
} from '@postroom/unsubscribe';

/** What a message's web version is made of. */
interface SentMessage extends Addressee {
  projectId: string;
  campaignId: string | null;
}

const FIND = `
  SELECT m.id, m.email, c.name, c.custom_fields AS "customFields", m.project_id AS "projectId", m.campaign_id AS "campaignId"
  FROM messages m LEFT JOIN contacts c ON c.id = m.contact_id
  WHERE m.id = $1 AND NOT (${OF_ERASED})`;

/** The campaigns whose mail is being read, by id: parsing 500,000 characters takes longer than rendering them. */
const campaigns = new LRUCache<string, { render: ReturnType<typeof compileWebVersion>; size: number }, string>({
  maxSize: 20_000_000,
  ttl: 60_000,
  sizeCalculation: ({ size }) => size,
  fetchMethod: async (id, _stale, { context: projectId }) => {
    const campaign = await getCampaign(projectId, id);
    const { fromEmail, html, trackOpens: opens, trackClicks: clicks } = campaign;
    const tracking = await readTracking(projectId, fromEmail ?? '', { opens, clicks });
    return { render: compileWebVersion(await contentOf(campaign), tracking), size: 2 * (html ?? '').length + 1_000 };
  },
});

/**
 * Anyone who has a link may follow it as often as they like, so the mail of a project is rendered one at a time, for at most a third of the
 * time. Quick ones, nearly all, are not slowed down.
 */
const renders = new FairSemaphore({
  total: Infinity,
  perKey: 1,
  waitingPerKey: 100,
  pace: (_project, tookMs) => (tookMs < QUICK_MS ? Promise.resolve() : sleep(2 * tookMs)),
});
const QUICK_MS = 2;

async function webVersionOf(messageId: string): Promise<string | undefined> {
  const [message] = (await pool.query<SentMessage>(FIND, [messageId])).rows;
  if (message === undefined) return undefined;
  const { id, projectId, campaignId } = message;
  if (campaignId === null) return renders.run(projectId, () => webVersionOfEmail(projectId, id));
  return renders.run(projectId, async () =>
    (await campaigns.fetch(campaignId, { context: projectId }))?.render(message),
  );
}

/**
 * Handles `/u/{token}/view`: the HTML of a message as it was sent, with its tracked links, for recipients whose mail program shows it
 * badly. A campaign's message is rendered again, with what is known of the contact now.
 */
export async function handleWebVersion(
  { method = 'GET' }: IncomingMessage,
  response: ServerResponse,
  token: string,
): Promise<void> {
  try {
    if (rejectMethod(method, response, ['GET', 'HEAD'])) return;
    if (token === TEST_TOKEN) {
      const text = '<p>This link is from a test email. In a real email it shows the email in the browser.</p>';
      return answerPage(response, 200, 'Test link', text);
    }
    const decoded = readToken(token);
    if (decoded === undefined) return answerInvalidLink(response);
    const html = await webVersionOf(decoded.messageId).catch((error: unknown) => {
      // What is known of the contact now may make the message too long.
      if (error instanceof MessageError) return undefined;
      throw error;
    });
    if (html === undefined)
      return answerPage(response, 404, 'This email is not available', '<p>It is no longer stored here.</p>');
    answerMail(response, html);
  } catch (error) {
    answerProblem(response, error);
  }
}

/** The author of a mail is not trusted with our origin: it gets its own, without scripts and forms. */
const POLICY = [
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline' https:",
  'font-src https: data:',
  'img-src https: http: data:',
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

function answerMail(response: ServerResponse, html: string): void {
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(html),
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Robots-Tag': 'noindex, nofollow',
    'Cache-Control': 'no-store',
  });
  response.end(html);
}
