import type { IncomingMessage, ServerResponse } from 'node:http';
import { authenticateUser } from '@postroom/auth';
import { DomainError, onThread, ThreadError, type ThreadFunction } from '@postroom/platform';
import type { Values } from '@postroom/templates/render';
import { notice } from './preview-html.ts';
import { answerError, readBody } from './rest/http.ts';

export const PREVIEW_PATH = '/app/preview';

/** A template has at most 500,000 characters, and each may take nine bytes in a form. */
const MAX_BYTES = 5_000_000;
const MAX_LENGTH = 500_000;

const PREVIEW: ThreadFunction = {
  module: import.meta.resolve('./preview-html.ts'),
  name: 'previewHtml',
  timeLimitMs: 2_000,
};

/**
 * Answers with the HTML that was posted, its placeholders filled in, to be shown in a frame of the dashboard. The document has an
 * origin of its own, runs no script and loads nothing from elsewhere but images, and those only when asked to. It is posted
 * and not kept, so that what is being written is never at an address, and so that no other site can have us show anything.
 */
export async function answerPreview(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    if (request.method !== 'POST') {
      response.setHeader('Allow', 'POST');
      throw new DomainError('method_not_allowed', 'A preview is posted.');
    }
    const person = await authenticateUser(request.headers, undefined);
    if (person === null) throw new DomainError('unauthorized', 'Sign in first.');
    const form = new URLSearchParams((await readBody(request, MAX_BYTES)).toString('utf8'));
    const body = await preview(person.id, form.get('html') ?? '', valuesOf(form.get('values')));
    response.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy(form.get('images') === 'yes'),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    });
    response.end(body);
  } catch (error) {
    answerError(response, error);
  }
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
    return await onThread<[string, Values], string>(PREVIEW, personId, html, values);
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    return notice(`No preview can be made: ${error.message}`);
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
