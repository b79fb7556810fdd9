import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { escapeHtml } from '@postroom/templates/render';
import { findUnsubscriber, unsubscribe } from './unsubscribe.ts';
import { readToken, TEST_TOKEN } from './unsubscribe-link.ts';

const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0; background: #f4f5f7; color: #1c2430 }
  main { max-width: 26rem; margin: 12vh auto; padding: 2rem; background: #fff; border-radius: .75rem; box-shadow: 0 1px 4px #0002 }
  h1 { font-size: 1.25rem; margin: 0 0 .75rem }
  p { margin: 0 0 1.25rem; overflow-wrap: anywhere }
  button { font: inherit; padding: .6rem 1.2rem; border: 0; border-radius: .5rem; background: #1f5eff; color: #fff; cursor: pointer }
  button:focus-visible { outline: 3px solid #9db9ff }
  @media (prefers-color-scheme: dark) { body { background: #14181f; color: #e6e9ef } main { background: #1d232d } }`;

/** The page runs no script and loads nothing, and can be framed by nobody. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * Answers `/u/{token}`. GET shows a page and changes nothing, since mail scanners follow links; POST unsubscribes, from the
 * page's button or from a mail program's own (RFC 8058), which sends no cookie and follows no redirect.
 */
export async function handleUnsubscribe(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET' } = request;
  request.resume(); // what the body says does not matter: that it is a POST does
  const token = (request.url ?? '').split('?', 1)[0]?.split('/')[2] ?? '';
  if (!['GET', 'HEAD', 'POST'].includes(method)) {
    response.setHeader('Allow', 'GET, HEAD, POST');
    return answerPage(
      response,
      405,
      'This does not work',
      `<p>The method ${escapeHtml(method)} does nothing here.</p>`,
    );
  }
  if (token === TEST_TOKEN) {
    return answerPage(
      response,
      200,
      'A test',
      '<p>This link came with a test mail. In real mail it unsubscribes its reader.</p>',
    );
  }
  const messageId = readToken(token);
  const unsubscriber = messageId === undefined ? undefined : await findUnsubscriber(messageId);
  if (unsubscriber === undefined) {
    return answerPage(response, 404, 'This link is not valid', '<p>Please use the whole link from the mail.</p>');
  }
  const [sender, email] = [escapeHtml(unsubscriber.sender), escapeHtml(unsubscriber.email)];
  if (method === 'POST') {
    await unsubscribe(unsubscriber.messageId);
    return answerPage(
      response,
      200,
      'You are unsubscribed',
      `<p>${sender} will not send newsletters to <b>${email}</b> any more.</p>`,
    );
  }
  answerPage(
    response,
    200,
    'Unsubscribe',
    `<p>Do you want no more newsletters from ${sender} to <b>${email}</b>?</p>
    <form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>`,
  );
}

/** Answers with a small page of ours. `title` and `body` are HTML. */
export function answerPage(response: ServerResponse, status: number, title: string, body: string): void {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>${body}</main></body></html>
`;
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(html),
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  response.end(html);
}
