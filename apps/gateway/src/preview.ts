import type { IncomingMessage, ServerResponse } from 'node:http';
import { authenticatePerson } from '@postroom/people';
import { DomainError } from '@postroom/platform';
import { escapeHtml, parseTemplate, renderTemplate, type Values } from '@postroom/templates/render';
import { answerError, readBody } from './rest/http.ts';

export const PREVIEW_PATH = '/app/preview';

/** A template has at most 500,000 characters, and each may take nine bytes in a form. */
const MAX_BYTES = 5_000_000;

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
    if ((await authenticatePerson(request.headers, undefined)) === null)
      throw new DomainError('unauthorized', 'Sign in first.');
    const form = new URLSearchParams((await readBody(request, MAX_BYTES)).toString('utf8'));
    const body = preview(form.get('html') ?? '', valuesOf(form.get('values')));
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

/** Links open elsewhere, since the frame is the mail. A base in the text itself comes later and counts for nothing. */
const HEAD = '<base target="_blank">';

/** Makes the document a stop of the Tab key, or a long mail without a link could not be scrolled by keyboard; it adds to the tag of the text itself. */
const TAIL = '<html tabindex="0">';

function preview(html: string, values: Values): string {
  const template = parseTemplate(html, 'html');
  const [problem] = template.problems;
  const shown = renderTemplate(template, values);
  const head = /<head[^>]*>/i.exec(shown);
  const whole =
    head === null
      ? HEAD + shown
      : shown.slice(0, head.index + head[0].length) + HEAD + shown.slice(head.index + head[0].length);
  return (problem === undefined ? '' : notice(`Line ${problem.line}: ${problem.message}`)) + whole + TAIL;
}

const notice = (text: string) =>
  `<p style="margin:0;padding:8px 12px;background:#fff3bf;color:#5c3c00;font:14px/1.4 system-ui,sans-serif">${escapeHtml(text)}</p>`;

function valuesOf(text: string | null): Values {
  try {
    const values: unknown = JSON.parse(text ?? '{}');
    return typeof values === 'object' && values !== null ? (values as Values) : {};
  } catch {
    return {};
  }
}
