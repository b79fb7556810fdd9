import type { IncomingMessage, ServerResponse } from 'node:http';
import { anonymizedNetwork, clientAddress, databaseTime, logger } from '@postroom/platform';
import { type Hit, Hits } from './hits.ts';
import { classifyHits } from './classify-hits.ts';
import { answerInvalidLink, answerPage } from '@postroom/unsubscribe';
import { deleteOldHits } from './retention.ts';
import { botReason } from './bots.ts';
import { readTrackingToken, unsealValues } from './token.ts';
import { targetOf } from './track-html.ts';
import { TRACKING_POLICY } from './policy.ts';

/** One transparent pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** Serves tracking pixels and links, and classifies their hits. */
export interface Tracking {
  /** Handles `/t/…`. */
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Resolves once all received hits are stored. */
  stop: () => Promise<void>;
}

/** Starts classifying stored hits, including those left by a gateway that has stopped. */
export function startTracking(): Tracking {
  const hits = new Hits();
  const classifying = startClassifying();
  return {
    answer: (request, response) => answer(request, response, hits),
    stop: async () => {
      await hits.flush();
      await classifying.stop();
    },
  };
}

function startClassifying(): { stop: () => Promise<void> } {
  let running: Promise<void> | undefined;
  let deletedAt = performance.now();
  const classifyAll = async () => {
    try {
      while ((await classifyHits()) > 0);
      if (performance.now() - deletedAt < TRACKING_POLICY.retention.intervalMs) return;
      deletedAt = performance.now();
      await deleteOldHits();
    } catch (error) {
      logger.warn({ err: error }, 'failed to classify hits; will retry');
    }
  };
  const timer = setInterval(
    () => (running ??= classifyAll().finally(() => (running = undefined))),
    TRACKING_POLICY.classify.intervalMs,
  );
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, hits: Hits): Promise<void> {
  const { method = 'GET' } = request;
  response.setHeader('Cache-Control', 'no-store, max-age=0');
  if (method !== 'GET' && method !== 'HEAD') {
    return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
  }
  const [, , kind, name = ''] = (request.url ?? '').split('?', 1)[0]!.split('/');
  if (kind === 'o') return answerPixel(request, response, name, hits);
  if (kind === 'c') return answerLink(request, response, name, hits);
  answerText(response, 404, 'Not found.');
}

/** Always returns the pixel, even for an invalid token, so that mail clients never show a broken image. */
function answerPixel(request: IncomingMessage, response: ServerResponse, name: string, hits: Hits): void {
  const messageId = readTrackingToken(name);
  if (messageId !== undefined) hits.addOpen(hitOf(request, messageId, null));
  response.writeHead(200, { 'Content-Type': 'image/gif', 'Content-Length': PIXEL.length });
  response.end(PIXEL);
}

async function answerLink(request: IncomingMessage, response: ServerResponse, name: string, hits: Hits): Promise<void> {
  const [token = '', number = '', sealed] = name.split('.');
  const messageId = readTrackingToken(token);
  const position = /^\d{1,5}$/.test(number) ? Number(number) : -1;
  const values =
    messageId === undefined || sealed === undefined ? undefined : unsealValues(messageId, position, sealed);
  if (messageId === undefined || position === -1 || (sealed !== undefined && values === undefined)) {
    return answerInvalidLink(response);
  }
  let source: string | undefined;
  try {
    source = await hits.addClick(hitOf(request, messageId, position));
  } catch {
    response.setHeader('Retry-After', '2');
    return answerPage(response, 503, 'Temporarily unavailable', '<p>Please try this link again in a moment.</p>');
  }
  const target = source === undefined ? undefined : targetOf(source, values);
  if (target === undefined) {
    // The token is authentic, so the message or its link has been deleted.
    const text = '<p>The email that contains it is too old. Please contact its sender.</p>';
    return answerPage(response, 410, 'This link has expired', text);
  }
  response.writeHead(302, { Location: target, 'Content-Length': 0, 'X-Robots-Tag': 'noindex' }).end();
}

function hitOf(request: IncomingMessage, messageId: string, position: number | null): Hit {
  const { method = 'GET', headers } = request;
  const userAgent = headers['user-agent'];
  return {
    messageId,
    position,
    at: databaseTime(),
    userAgent,
    network: anonymizedNetwork(clientAddress(request)),
    reason: botReason({ method, userAgent }),
  };
}

function answerText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'X-Robots-Tag': 'noindex',
  });
  response.end(`${text}\n`);
}
