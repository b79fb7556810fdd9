import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createHttpServer, DomainError, invalid, isId, isOwnHost, logger, STATUS_BY_CODE } from '@postroom/platform';
import {
  countMails,
  deleteMail,
  deleteMails,
  getSource,
  listMails,
  type MailsQuery,
  MAX_LIMIT,
} from '@postroom/emails/inbox';
import type { Live } from './subscription.ts';
import { getMail } from './mails.ts';
import { bytesOf, mailJson, renderFrame } from './render.ts';

const WEB_DIR = join(import.meta.dirname, '../web');
const STATIC: Record<string, { file: string; type: string }> = {
  '/': { file: 'index.html', type: 'text/html; charset=utf-8' },
  '/inbox.css': { file: 'inbox.css', type: 'text/css; charset=utf-8' },
  '/inbox.js': { file: 'inbox.js', type: 'text/javascript; charset=utf-8' },
  '/icon.svg': { file: 'icon.svg', type: 'image/svg+xml' },
};

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
/** Mail is untrusted: it gets no scripts, origin or forms, and remote images only on request. */
const mailPolicy = (pictures: boolean) =>
  `sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:${
    pictures ? ' http: https:' : ''
  }; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`;

interface Exchange {
  url: URL;
  response: ServerResponse;
  live: Live;
}
type Handler = (exchange: Exchange, ...parts: string[]) => Promise<unknown>;

/** Return values are sent as JSON; handlers that respond themselves return nothing. */
const ROUTES: [method: string, path: RegExp, handler: Handler][] = [
  ['GET', /^\/healthz$/, async () => ({ status: 'ok' })],
  ['GET', /^\/api\/mails$/, async ({ url }) => showMails(queryOf(url))],
  ['DELETE', /^\/api\/mails$/, async ({ live }) => ({ deleted: true, count: await told(live, deleteMails()) })],
  ['GET', /^\/api\/mails\/(\w+)$/, async (_, id) => ({ data: await showMail(id!) })],
  [
    'DELETE',
    /^\/api\/mails\/(\w+)$/,
    async ({ live }, id) => ({
      deleted:
        (await told(
          live,
          deleteMail(id!).then(() => 1),
        )) === 1,
    }),
  ],
  ['GET', /^\/api\/mails\/(\w+)\/source$/, sendSource],
  ['GET', /^\/api\/mails\/(\w+)\/attachments\/(\d{1,4})$/, sendAttachment],
  ['GET', /^\/api\/stats$/, async ({ url }) => ({ data: await countMails(queryOf(url)) })],
  ['GET', /^\/api\/events$/, async ({ response, live }) => live.watch(response)],
  ['GET', /^\/mails\/(\w+)\/html$/, sendHtml],
];

export interface WebListener {
  port: number;
  stop: () => Promise<void>;
}

/** The web page and the API for tests. */
export async function listenWeb(host: string, port: number, live: Live): Promise<WebListener> {
  const server = createHttpServer((request, response) => void answer(request, response, live));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
    });
  return { port: (server.address() as AddressInfo).port, stop };
}

async function answer(request: IncomingMessage, response: ServerResponse, live: Live): Promise<void> {
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  try {
    // Some clients do not percent-encode URLs: curl sends raw UTF-8, which Node reads as Latin-1.
    const url = new URL(Buffer.from(request.url ?? '/', 'latin1').toString(), 'http://inbox');
    if (!isOwnHost(request.headers.host))
      throw new DomainError('forbidden', "Use the inbox's IP address or localhost.");
    await dispatch(request.method ?? 'GET', { url, response, live });
  } catch (error) {
    if (!(error instanceof DomainError)) logger.error({ err: error, url: request.url }, 'inbox request failed');
    const { code, message } =
      error instanceof DomainError ? error : { code: 'internal_error' as const, message: 'Internal server error.' };
    if (response.headersSent) response.destroy();
    else sendJson(response, { error: { code, message } }, STATUS_BY_CODE[code]);
  }
}

async function dispatch(method: string, exchange: Exchange): Promise<void> {
  const { pathname } = exchange.url;
  const page = STATIC[pathname];
  const found = ROUTES.filter(([, path]) => path.test(pathname));
  const allowed = page === undefined ? found.map(([allow]) => allow) : ['GET'];
  if (allowed.length === 0) throw new DomainError('not_found', 'Not found.');
  if (!allowed.includes(method)) {
    exchange.response.setHeader('allow', allowed.join(', '));
    throw new DomainError('method_not_allowed', `${method} is not allowed here; use ${allowed.join(', ')}.`);
  }
  if (page !== undefined) return sendPage(exchange.response, page);
  const [, path, handler] = found.find(([allow]) => allow === method)!;
  const result = await handler(exchange, ...path.exec(pathname)!.slice(1));
  if (result !== undefined) sendJson(exchange.response, result);
}

function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

async function sendPage(response: ServerResponse, { file, type }: { file: string; type: string }): Promise<void> {
  const body = await readFile(join(WEB_DIR, file));
  response.writeHead(200, {
    'content-type': type,
    'cache-control': 'no-cache',
    'content-security-policy': PAGE_POLICY,
  });
  response.end(body);
}

function queryOf({ searchParams }: URL): MailsQuery {
  const text = (name: string) => searchParams.get(name)?.replaceAll('\0', '') || undefined;
  const limit = text('limit');
  if (limit !== undefined && !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_LIMIT)) {
    throw invalid({ field: 'limit', message: `must be a whole number from 1 to ${MAX_LIMIT}` });
  }
  const before = text('before');
  if (before !== undefined && !isId('mai', before))
    throw invalid({ field: 'before', message: 'must be the id of a mail, such as the next_cursor of an earlier page' });
  return {
    recipient: text('recipient'),
    search: text('search'),
    before,
    limit: limit === undefined ? undefined : Number(limit),
  };
}

async function showMails(query: MailsQuery) {
  const { mails, hasMore } = await listMails(query);
  return { data: mails, has_more: hasMore, next_cursor: hasMore ? mails.at(-1)!.id : null };
}

async function showMail(id: string) {
  const { mail, email } = await getMail(id);
  return mailJson(mail, email);
}

async function told(live: Live, work: Promise<number>): Promise<number> {
  const deleted = await work;
  live.changed({ deleted });
  return deleted;
}

async function sendSource({ response, url }: Exchange, id?: string): Promise<void> {
  const { raw } = await getSource(id!);
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
  const download = {
    ...headers,
    'content-type': 'message/rfc822',
    'content-disposition': `attachment; filename="${id}.eml"`,
  };
  response.writeHead(200, url.searchParams.has('download') ? download : headers);
  response.end(raw);
}

async function sendAttachment({ response }: Exchange, id?: string, index?: string): Promise<void> {
  const { email } = await getMail(id!);
  const attachment = email.attachments[Number(index)];
  if (attachment === undefined) throw new DomainError('not_found', 'Attachment not found.');
  const name = attachment.filename ?? `attachment-${index}`;
  response.writeHead(200, {
    'content-type': /^[\w.+-]+\/[\w.+-]+$/.test(attachment.mimeType) ? attachment.mimeType : 'application/octet-stream',
    // Always a download: opened inline, an HTML attachment would run with the inbox's origin.
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'no-store',
  });
  response.end(bytesOf(attachment.content));
}

async function sendHtml({ response, url }: Exchange, id?: string): Promise<void> {
  const { email } = await getMail(id!);
  const policy = mailPolicy(url.searchParams.has('pictures'));
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-store',
  });
  response.end(renderFrame(email));
}
