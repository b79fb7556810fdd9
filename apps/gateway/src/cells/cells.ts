import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream';
import { vouchFor } from '@postroom/auth';
import { recordReceivedReport, REPORT, type ReceivedReport } from '@postroom/bounces';
import { answerSubmission, SUBMISSION } from '@postroom/emails';
import { clientAddress, config, DomainError, logger, readBody, RetryLater } from '@postroom/platform';
import {
  answerForwarded,
  CELL_HEADER,
  CELLS_PATH,
  gatewayOf,
  MAX_HOPS,
  readVoucher,
  type Voucher,
  voucherFor,
} from '@postroom/projects/cells';
import { answerError, answerJson } from '../rest/http.ts';
import { answerOf, type Place, placeOf } from './place.ts';

/** Headers that concern one connection only. */
const HOP_BY_HOP = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Another cell stops vouching for a stream after this time, in milliseconds; its reader connects again, with its session. */
const MAX_STREAM_MS = 5 * 60_000;

/** A submitted mail of the greatest size, with its attachments in base64. */
const MAX_FORWARDED_BYTES = 80 * 1024 * 1024;

/** What cells forward to each other. It has been parsed where it came in. */
const FORWARDED: Record<string, (text: string, hops: number) => Promise<unknown>> = {
  [SUBMISSION]: answerSubmission,
  [REPORT]: (text, hops) => recordReceivedReport(JSON.parse(text) as ReceivedReport, { hops }),
};

/**
 * Answers a request that concerns another cell: forwards it to the cell that has its project, or answers what another cell asks. Without
 * CELL_GATEWAYS there is none. @returns false if it is for this cell.
 */
export async function answerForCells(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<boolean> {
  if (config.CELL_GATEWAYS === undefined) return false;
  let place: Place | undefined;
  let hops = 0;
  try {
    const voucher = readVoucher(request);
    if (path.startsWith(CELLS_PATH)) {
      const answer = voucher && (await answerCell(request, path.slice(CELLS_PATH.length), voucher));
      if (answer === undefined) throw new DomainError('not_found', 'Not found.');
      answerJson(response, 200, answer);
      return true;
    }
    if (voucher?.user !== undefined) vouchFor(request.headers, voucher.user);
    hops = voucher?.hops ?? 0;
    place = hops < MAX_HOPS ? await placeOf(request, path) : undefined;
  } catch (error) {
    answerError(response, error);
    return true;
  }
  if (place === undefined) return false;
  forward(request, response, place, hops + 1);
  return true;
}

function answerCell(request: IncomingMessage, what: string, { hops, person }: Voucher): Promise<unknown> {
  const work = FORWARDED[what];
  if (work === undefined) return answerOf(what, person);
  return answerForwarded(async () => work((await readBody(request, MAX_FORWARDED_BYTES)).toString('utf8'), hops));
}

/** Streams the request to the other cell, and its response back. */
function forward(request: IncomingMessage, response: ServerResponse, { cell, user }: Place, hops: number): void {
  const { method = 'GET', url = '/' } = request;
  const headers = { ...request.headers };
  for (const name of HOP_BY_HOP) delete headers[name];
  // Sessions are of this cell.
  delete headers.cookie;
  delete headers.forwarded;
  headers['x-forwarded-for'] = clientAddress(request);
  headers[CELL_HEADER] = voucherFor(method, url, { hops, ...(user && { user }) });
  const target = new URL(gatewayOf(cell));
  const upstream = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, { method, path: url, headers });
  const timer = user === undefined ? undefined : setTimeout(() => upstream.destroy(), MAX_STREAM_MS).unref();
  upstream.on('response', (answer) => {
    const given = { ...answer.headers };
    for (const name of HOP_BY_HOP) delete given[name];
    response.writeHead(answer.statusCode ?? 502, given).flushHeaders();
    pipeline(answer, response, () => clearTimeout(timer));
  });
  upstream.on('error', (error) => {
    clearTimeout(timer);
    if (response.headersSent) return void response.destroy();
    logger.warn({ err: error, cell }, 'could not forward a request to another cell');
    answerError(response, new RetryLater('timeout', 'The project cannot be reached at the moment. Try again.', 5));
  });
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}
