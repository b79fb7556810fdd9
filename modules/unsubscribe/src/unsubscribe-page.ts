import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { escapeHtml } from '@postroom/templates/render';
import { findUnsubscriber, unsubscribe, type Unsubscriber } from './unsubscribe.ts';
import { readToken, TEST_TOKEN } from './unsubscribe-link.ts';

const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0; background: #f4f5f7; color: #1c2430 }
  main { max-width: 26rem; margin: 12vh auto; padding: 2rem; background: #fff; border-radius: .75rem; box-shadow: 0 1px 4px #0002 }
  h1 { font-size: 1.25rem; margin: 0 0 .75rem }
  p { margin: 0 0 1.25rem; overflow-wrap: anywhere }
  button { font: inherit; padding: .6rem 1.2rem; border: 0; border-radius: .5rem; background: #1f5eff; color: #fff; cursor: pointer }
  button.quiet { background: none; color: inherit; border: 1px solid #8888; margin-top: .75rem }
  label { display: block; padding: .35rem 0 }
  input { width: 1.1rem; height: 1.1rem; margin: 0 .6rem 0 0; vertical-align: -.15rem; accent-color: #1f5eff }
  form { margin: 0 0 .5rem } fieldset { border: 0; margin: 0 0 1.25rem; padding: 0 }
  button:focus-visible { outline: 3px solid #9db9ff }
  @media (prefers-color-scheme: dark) { body { background: #14181f; color: #e6e9ef } main { background: #1d232d } }`;

/** The style in a project's brand colour, with a readable text colour on buttons. */
function styleIn(color: string | null): string {
  if (color === null) return STYLE;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const textColor = red * 0.299 + green * 0.587 + blue * 0.114 > 150 ? '#000' : '#fff';
  return STYLE.replaceAll('#1f5eff', color).replace('color: #fff; cursor', `color: ${textColor}; cursor`);
}

/** The page runs no scripts, loads nothing and cannot be framed. */
const policyOf = (style: string) =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');

/** A subscription that a recipient can keep or leave individually. */
export interface Preference {
  id: string;
  name: string;
  isKept: boolean;
}

/** Reads and saves the choices that a recipient has besides unsubscribing from everything. The caller provides it, since this module knows no groups. */
export interface Preferences {
  of: (unsubscriber: Unsubscriber) => Promise<Preference[]>;
  keep: (unsubscriber: Unsubscriber, ids: readonly string[]) => Promise<void>;
}

/** Enough for a form with a hundred choices. */
const MAX_FORM_BYTES = 20_000;

/** The ids checked in a submitted preferences form; undefined for any other body. */
async function readChoices(request: IncomingMessage): Promise<string[] | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_FORM_BYTES) chunks.push(chunk);
  }
  const form = new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
  return size <= MAX_FORM_BYTES && form.get('preferences') === 'save' ? form.getAll('keep') : undefined;
}

/**
 * Handles `/u/{token}`. GET shows a page and changes nothing, since mail scanners follow links. POST unsubscribes, from the
 * page's button or from a mail client's one-click request (RFC 8058), which sends no cookies and follows no redirects. Any
 * POST body except the preferences form unsubscribes from everything.
 */
export async function handleUnsubscribe(
  request: IncomingMessage,
  response: ServerResponse,
  preferences: Preferences,
): Promise<void> {
  const { method = 'GET' } = request;
  const choices = method === 'POST' ? await readChoices(request) : void request.resume();
  const token = (request.url ?? '').split('?', 1)[0]?.split('/')[2] ?? '';
  if (!['GET', 'HEAD', 'POST'].includes(method)) {
    response.setHeader('Allow', 'GET, HEAD, POST');
    return answerPage(
      response,
      405,
      'Method not allowed',
      `<p>This page does not support ${escapeHtml(method)} requests.</p>`,
    );
  }
  if (token === TEST_TOKEN) {
    return answerPage(
      response,
      200,
      'Test link',
      '<p>This link is from a test email. In a real email it unsubscribes the recipient.</p>',
    );
  }
  const decoded = readToken(token);
  const unsubscriber = decoded === undefined ? undefined : await findUnsubscriber(decoded);
  if (unsubscriber === undefined) {
    return answerPage(response, 404, 'This link is not valid', '<p>Please use the complete link from the email.</p>');
  }
  const [sender, email] = [escapeHtml(unsubscriber.sender), escapeHtml(unsubscriber.email)];
  const { brandColor } = unsubscriber;
  if (choices !== undefined) {
    await preferences.keep(unsubscriber, choices);
    return answerPage(
      response,
      200,
      'Your preferences are saved',
      `<p>${sender} will only send <b>${email}</b> what you have selected.</p>${formOf(await preferences.of(unsubscriber))}`,
      brandColor,
    );
  }
  if (method === 'POST') {
    await unsubscribe(unsubscriber);
    return answerPage(
      response,
      200,
      'You are unsubscribed',
      `<p>${sender} will not send newsletters to <b>${email}</b> any longer.</p>`,
      brandColor,
    );
  }
  const offered = await preferences.of(unsubscriber);
  const question =
    offered.length === 0
      ? `<p>Do you want to stop receiving newsletters from ${sender} at <b>${email}</b>?</p>`
      : `<p>Which emails should ${sender} send to <b>${email}</b>?</p>`;
  answerPage(response, 200, 'Unsubscribe', `${question}${formOf(offered)}`, brandColor);
}

/** The preferences form, if there are any choices, and the button that unsubscribes from everything. */
function formOf(offered: readonly Preference[]): string {
  const allButton = (label: string, attributes: string) =>
    `<form method="post"><button${attributes} name="List-Unsubscribe" value="One-Click">${label}</button></form>`;
  if (offered.length === 0) return allButton('Unsubscribe', '');
  const boxes = offered.map(
    ({ id, name, isKept }) =>
      `<label><input type="checkbox" name="keep" value="${escapeHtml(id)}"${isKept ? ' checked' : ''}>${escapeHtml(name)}</label>`,
  );
  return `<form method="post"><fieldset>${boxes.join('')}</fieldset><button name="preferences" value="save">Save</button></form>
    ${allButton('Unsubscribe from everything', ' class="quiet"')}`;
}

/** Sends a small HTML page. `title` and `body` are HTML. */
export function answerPage(
  response: ServerResponse,
  status: number,
  title: string,
  body: string,
  brandColor: string | null = null,
): void {
  const style = styleIn(brandColor);
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title><style>${style}</style></head>
<body><main><h1>${title}</h1>${body}</main></body></html>
`;
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(html),
    'Content-Security-Policy': policyOf(style),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  response.end(html);
}
