import type { IncomingMessage, ServerResponse } from 'node:http';
import { authenticateUser } from '@postroom/auth';
import { DomainError, IsolatedCallError, type IsolatedFunction, readBody, runIsolated } from '@postroom/platform';
import type { Values } from '@postroom/templating';
import { notice } from './preview-html.ts';
import { answerError, errorResponse, setErrorHeaders } from './rest/http.ts';

export const PREVIEW_PATH = '/app/preview';

/** A template has at most 500,000 characters, and each may take nine bytes when form-encoded. */
const MAX_BYTES = 5_000_000;
const MAX_LENGTH = 500_000;

const PREVIEW: IsolatedFunction = {
  module: import.meta.resolve('./preview-html.ts'),
  name: 'previewHtml',
  timeLimitMs: 2_000,
};

/**
 * Renders posted HTML with its placeholders filled in, for a frame of the dashboard. The document has its own origin,
 * runs no scripts and loads nothing but images, and those only on request. It is posted and never stored, so that
 * drafts have no URL and other sites can't make us show their content.
 */
export async function servePreview(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    if (request.method !== 'POST') {
      response.setHeader('Allow', 'POST');
      throw new DomainError('method_not_allowed', 'Use POST.');
    }
    const person = await authenticateUser(request.headers, undefined);
    if (person === null) throw new DomainError('unauthorized', 'Sign in first.');
    const form = new URLSearchParams((await readBody(request, MAX_BYTES)).toString('utf8'));
    const body = await preview(person.id, form.get('html') ?? '', valuesOf(form.get('values')));
    respond(response, 200, body, form.get('images') === 'yes');
  } catch (error) {
    if (request.method !== 'POST') return answerError(response, error);
    // In its frame, whose reader would otherwise see the browser's page about a document that can't be framed.
    setErrorHeaders(response, error);
    const { status, body } = errorResponse(error, response.getHeader('X-Request-Id')?.toString());
    respond(response, status, notice(body.error.message), false);
  }
}

function respond(response: ServerResponse, status: number, body: string, withImages: boolean): void {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy(withImages),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  });
  response.end(body);
}

function policy(withImages: boolean): string {
  return [
    'sandbox allow-popups allow-popups-to-escape-sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data:${withImages ? ' https: http:' : ''}`,
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

async function preview(personId: string, html: string, values: Values): Promise<string> {
  if (html.length > MAX_LENGTH) return notice(`The HTML has more than ${MAX_LENGTH} characters.`);
  try {
    return await runIsolated<[string, Values], string>(PREVIEW, personId, html, values);
  } catch (error) {
    if (!(error instanceof IsolatedCallError)) throw error;
    return notice(`Preview failed: ${error.message}`);
  }
}

function valuesOf(text: string | null): Values {
  try {
    const values: unknown = JSON.parse(text ?? '{}');
    return typeof values === 'object' && values !== null ? (values as Values) : {};
  } catch {
    return {};
  }
}
