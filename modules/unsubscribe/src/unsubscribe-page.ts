import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { databaseAnswerOf, DomainError, logger, readBody, RetryLater, STATUS_BY_CODE } from '@postroom/platform';
import { LOGO_PATH, orHold } from '@postroom/projects';
import { escapeHtml } from '@postroom/templating';
import { findUnsubscriber, isUnsubscribed, subscribeAgain, unsubscribe, type Unsubscriber } from './unsubscribe.ts';
import { readToken, TEST_TOKEN } from './unsubscribe-link.ts';

const STYLE = `
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; background: #f4f5f7; color: #1c2430; overflow-wrap: anywhere }
  main { box-sizing: border-box; max-width: 30rem; margin: 12vh auto; padding: min(2rem, 8vw); background: #fff; border-radius: .75rem; box-shadow: 0 1px 4px #0002 }
  header { font-weight: 600; margin: 0 0 1.5rem; padding: 0 0 1rem; border-bottom: 3px solid #1f5eff }
  header img { display: block; max-width: min(12rem, 100%); max-height: 4rem; margin: 0 0 .75rem; object-fit: contain }
  footer { font-size: .8125rem; margin: 1.5rem 0 0; opacity: .75; white-space: pre-line }
  h1 { font-size: 1.25rem; margin: 0 0 .75rem }
  p { margin: 0 0 1.25rem }
  button { font: inherit; min-height: 2.75rem; padding: .6rem 1.2rem; border: 1px solid transparent; border-radius: .5rem; background: #1f5eff; color: #fff; cursor: pointer }
  button.quiet { background: none; color: inherit; border-color: #8888; margin-top: .75rem }
  label { display: block; padding: .6rem 0 }
  input { width: 1.1rem; height: 1.1rem; margin: 0 .6rem 0 0; vertical-align: -.15rem; accent-color: #1f5eff }
  form { margin: 0 0 .5rem } fieldset { border: 0; margin: 0 0 1.25rem; padding: 0 }
  :focus-visible { outline: 3px solid #1c2430; outline-offset: 2px }
  @media (max-width: 32rem) { main { margin: 0; min-height: 100vh; border-radius: 0; box-shadow: none } }
  @media (prefers-color-scheme: dark) { body { background: #14181f; color: #e6e9ef } main { background: #1d232d } :focus-visible { outline-color: #e6e9ef } header img { padding: .5rem; border-radius: .5rem; background: #fff } }`;

/** The style in a project's brand color, with a readable text color on buttons. */
function styleIn(style: string, color: string | null): string {
  if (color === null) return style;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const textColor = red * 0.299 + green * 0.587 + blue * 0.114 > 150 ? '#000' : '#fff';
  return style.replaceAll('#1f5eff', color).replace('color: #fff; cursor', `color: ${textColor}; cursor`);
}

/** The page runs no scripts, loads nothing but the logo and cannot be framed. */
const policyOf = (style: string, formTargets: readonly string[]) =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "img-src 'self'",
    ["form-action 'self'", ...formTargets].join(' '),
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

/** The change that a POST requests. A submitted preferences form has the ids that are checked. */
type RequestedChange = { kind: 'unsubscribe' } | { kind: 'subscribe' } | { kind: 'keep'; ids: string[] };

/** Time limit for receiving a form, in milliseconds. */
const FORM_TIMEOUT_MS = 10_000;

async function readRequestedChange(request: IncomingMessage): Promise<RequestedChange> {
  let body: Buffer;
  try {
    body = await readBody(request, MAX_FORM_BYTES, { timeoutMs: FORM_TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { kind: 'unsubscribe' }; // not one of our forms, so it need not be read
  }
  const form = new URLSearchParams(body.toString('utf8'));
  const button = form.get('preferences');
  if (button === 'save') return { kind: 'keep', ids: form.getAll('keep') };
  return { kind: button === 'subscribe' ? 'subscribe' : 'unsubscribe' };
}

/**
 * Handles `/u/{token}`. GET shows a page and changes nothing, since mail scanners follow links. POST unsubscribes, from the
 * page's button or from a mail client's one-click request (RFC 8058), which sends no cookies and follows no redirects. Any
 * POST body except the page's other buttons unsubscribes from everything, even one that is longer than any form or does not arrive in
 * time; the rest of it is not read.
 */
export async function handleUnsubscribe(
  request: IncomingMessage,
  response: ServerResponse,
  preferences: Preferences,
): Promise<void> {
  try {
    await handle(request, response, preferences);
  } catch (error) {
    answerProblem(response, error);
  }
}

async function handle(request: IncomingMessage, response: ServerResponse, preferences: Preferences): Promise<void> {
  const { method = 'GET' } = request;
  const change = method === 'POST' ? await readRequestedChange(request) : undefined;
  const token = (request.url ?? '').split('?', 1)[0]?.split('/')[2] ?? '';
  if (rejectMethod(method, response)) return;
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
    return answerInvalidLink(response);
  }
  const { title, body } = await pageFor(unsubscriber, change, preferences, `/u/${token}`);
  answerPage(response, 200, title, body, unsubscriber);
}

const SUBSCRIBE_AGAIN =
  '<form method="post"><button name="preferences" value="subscribe">Subscribe again</button></form>';

/** Makes the requested change, if there is one, and describes the recipient's subscription. */
async function pageFor(
  unsubscriber: Unsubscriber,
  change: RequestedChange | undefined,
  preferences: Preferences,
  path: string,
): Promise<{ title: string; body: string }> {
  const { projectId, messageId } = unsubscriber;
  const [sender, email] = [escapeHtml(unsubscriber.sender), `<b>${escapeHtml(unsubscriber.email)}</b>`];
  const form = async () => formOf(await preferences.of(unsubscriber));
  if (change?.kind === 'keep') {
    await preferences.keep(unsubscriber, change.ids);
    // The page was open while the recipient unsubscribed elsewhere. Choosing groups is not a request to be subscribed again.
    if (await isUnsubscribed(unsubscriber)) {
      const text = `${sender} will not send newsletters to ${email}. Your choices are saved and apply if you subscribe again.`;
      return { title: 'You are unsubscribed from everything', body: `<p>${text}</p>${SUBSCRIBE_AGAIN}` };
    }
    // Mail that belongs to no group, such as of a journey, still arrives.
    const text = `${sender} will not send ${email} what is not selected here. To stop all emails, unsubscribe from everything.`;
    const body = `<p>${text}</p>${await form()}`;
    return { title: 'Your preferences are saved', body };
  }
  if (change?.kind === 'subscribe') {
    await subscribeAgain(unsubscriber);
    return {
      title: 'You are subscribed again',
      body: `<p>${sender} will send newsletters to ${email} as before.</p>${await form()}`,
    };
  }
  if (change !== undefined)
    // A mailbox provider posts it once (RFC 8058).
    await orHold({ projectId, key: `unsubscribe/${messageId}`, path, body: '' }, () => unsubscribe(unsubscriber));
  const mayUndo = await isUnsubscribed(unsubscriber);
  if (change !== undefined || mayUndo) {
    return {
      title: 'You are unsubscribed',
      body: `<p>${sender} will not send newsletters to ${email} any longer.</p>${mayUndo ? SUBSCRIBE_AGAIN : ''}`,
    };
  }
  const offered = await preferences.of(unsubscriber);
  const question =
    offered.length === 0
      ? `<p>Do you want to stop receiving newsletters from ${sender} at ${email}?</p>`
      : `<p>Which emails should ${sender} send to ${email}?</p>`;
  return { title: 'Unsubscribe', body: `${question}${formOf(offered)}` };
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

/** How a page looks: in the project's color, with its logo, the sender's name and postal address. */
export type Brand = Pick<Unsubscriber, 'sender' | 'brandColor' | 'logoHash' | 'postalAddress'>;

/** The sender's name follows and says whose it is, so it has no alternative text. */
const logoOf = ({ logoHash }: Brand) =>
  logoHash === null ? '' : `<img src="${LOGO_PATH}${escapeHtml(logoHash)}" alt="">`;

/** What a page has besides its brand. */
export interface PageOptions {
  /** More CSS. Our blue in it becomes the brand's color. */
  style?: string;
  /** CSP sources to which the response of a form may redirect the browser. */
  formTargets?: readonly string[];
}

/** Answers a request to a page whose method it does not support. @returns whether it was one. */
export function rejectMethod(
  method: string,
  response: ServerResponse,
  supported: readonly string[] = ['GET', 'HEAD', 'POST'],
): boolean {
  if (supported.includes(method)) return false;
  response.setHeader('Allow', supported.join(', '));
  const text = `<p>This page does not support ${escapeHtml(method)} requests.</p>`;
  answerPage(response, 405, 'Method not allowed', text);
  return true;
}

/** Answers a request to a link that is incomplete or forged. */
export const answerInvalidLink = (response: ServerResponse): void =>
  answerPage(response, 404, 'This link is not valid', '<p>Please use the complete link from the email.</p>');

/** Sends a page that says what went wrong, such as that the database is unreachable. @throws an error that visitors can do nothing about. */
export function answerProblem(response: ServerResponse, error: unknown): void {
  const known = error instanceof DomainError ? error : databaseAnswerOf(error);
  if (known === undefined) throw error;
  if (known !== error) logger.warn({ err: error }, 'database too busy or unreachable');
  if (known instanceof RetryLater) response.setHeader('Retry-After', known.retryAfterSeconds);
  answerPage(response, STATUS_BY_CODE[known.code], 'Something went wrong', `<p>${escapeHtml(known.message)}</p>`);
}

/** Sends a small HTML page. `title` and `body` are HTML. */
export function answerPage(
  response: ServerResponse,
  status: number,
  title: string,
  body: string,
  brand?: Brand,
  options: PageOptions = {},
): void {
  const style = styleIn(STYLE + (options.style ?? ''), brand?.brandColor ?? null);
  const header = brand === undefined ? '' : `<header>${logoOf(brand)}${escapeHtml(brand.sender)}</header>`;
  const footer = brand?.postalAddress == null ? '' : `<footer>${escapeHtml(brand.postalAddress)}</footer>`;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title><style>${style}</style></head>
<body><main>${header}<h1>${title}</h1>${body}${footer}</main></body></html>
`;
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(html),
    'Content-Security-Policy': policyOf(style, options.formTargets ?? []),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  response.end(html);
}
