import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientAddress, logger } from '@postroom/platform';
import { type Hit, Hits } from './hits.ts';
import { classifyHits } from './classify-hits.ts';
import { answerPage } from '@postroom/unsubscribe';
import { deleteOldHits } from './retention.ts';
import { botReason, networkOf } from './bots.ts';
import { readTrackingToken, unsealValues } from './token.ts';
import { targetOf } from './track-html.ts';

/** One transparent pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** How often hits that have been kept are looked at, and old ones deleted, in milliseconds. */
const JUDGE_EVERY_MS = 1_000;
const DELETE_EVERY_MS = 60 * 60_000;

/** Answers the pixels and links of mail, and judges who fetched them. */
export interface Tracking {
  /** Answers `/t/…`. */
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Resolves when what has come is kept. */
  stop: () => Promise<void>;
}

/** Starts to take hits. Those that an ended gateway left unjudged are judged by whichever runs. */
export function startTracking(): Tracking {
  const hits = new Hits();
  const judging = startJudging();
  return {
    answer: (request, response) => answer(request, response, hits),
    stop: async () => {
      await hits.flushed();
      await judging.stop();
    },
  };
}

function startJudging(): { stop: () => Promise<void> } {
  let running: Promise<void> | undefined;
  let deletedAt = Date.now();
  const judgeAll = async () => {
    try {
      while ((await classifyHits()) > 0);
      if (Date.now() - deletedAt < DELETE_EVERY_MS) return;
      deletedAt = Date.now();
      await deleteOldHits();
    } catch (error) {
      logger.warn({ err: error }, 'hits could not be judged; they are looked at again');
    }
  };
  const timer = setInterval(() => (running ??= judgeAll().finally(() => (running = undefined))), JUDGE_EVERY_MS);
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
  request.resume();
  response.setHeader('Cache-Control', 'no-store, max-age=0');
  if (method !== 'GET' && method !== 'HEAD') {
    return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
  }
  const [, , kind, name = ''] = (request.url ?? '').split('?', 1)[0]!.split('/');
  if (kind === 'o') return answerPixel(request, response, name, hits);
  if (kind === 'c') return answerLink(request, response, name, hits);
  answerText(response, 404, 'There is nothing here.');
}

/** A pixel is a pixel, whatever it names: a picture that is broken says more than one that is not there. */
function answerPixel(request: IncomingMessage, response: ServerResponse, name: string, hits: Hits): void {
  const messageId = readTrackingToken(name);
  if (messageId !== undefined) hits.opened(hitOf(request, messageId, null));
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
    return answerPage(response, 404, 'This link is not valid', '<p>Please use the whole link from the mail.</p>');
  }
  let source: string | undefined;
  try {
    source = await hits.clicked(hitOf(request, messageId, position));
  } catch {
    response.setHeader('Retry-After', '2');
    return answerPage(response, 503, 'Not right now', '<p>Please follow this link again in a moment.</p>');
  }
  const target = source === undefined ? undefined : targetOf(source, values);
  if (target === undefined) {
    // It is ours, so its mail was: the message or its link has been deleted since.
    const words = '<p>The mail that it came with is too old. Its sender can tell you where it led.</p>';
    return answerPage(response, 410, 'This link leads nowhere any more', words);
  }
  response.writeHead(302, { Location: target, 'Content-Length': 0, 'X-Robots-Tag': 'noindex' }).end();
}

function hitOf(request: IncomingMessage, messageId: string, position: number | null): Hit {
  const { method = 'GET', headers } = request;
  const userAgent = headers['user-agent'];
  return {
    messageId,
    position,
    at: new Date(),
    userAgent,
    network: networkOf(clientAddress(request)),
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
