// Runs in its own process, because the author of a preview controls its cost.
import {
  escapeHtml,
  htmlProblem,
  parseTemplate,
  RenderError,
  renderTemplate,
  type Template,
  type Values,
} from '@postroom/templating';

/** The maximum length of an email, in characters. */
const MAX_LENGTH = 5_000_000;

/** Opens links in a new window. A base in the mail itself comes later and has no effect. */
const HEAD = '<base target="_blank">';

/**
 * Makes the document focusable, so that long mail without links can be scrolled by keyboard; merges into the mail's own
 * html tag.
 */
const TAIL = '<html tabindex="0">';

/** The HTML of a template with its placeholders filled in, as a document for a frame; problems are shown above it. */
export function previewHtml(html: string, values: Values): string {
  const complexity = htmlProblem(html);
  if (complexity !== undefined) return notice(`The HTML ${complexity}.`);
  const template = parseTemplate(html, 'html');
  const [problem] = template.problems;
  const shown = fillIn(template, values);
  return (problem === undefined ? '' : notice(`Line ${problem.line}: ${problem.message}`)) + withBase(shown) + TAIL;
}

function fillIn(template: Template, values: Values): string {
  try {
    return renderTemplate(template, values, MAX_LENGTH);
  } catch (error) {
    if (error instanceof RenderError) return notice(`Preview failed: ${error.message}`);
    throw error;
  }
}

/** A notice shown instead of a mail, or above it. */
export const notice = (text: string) =>
  `<p style="margin:0;padding:8px 12px;background:#fff3bf;color:#5c3c00;font:14px/1.4 system-ui,sans-serif">${escapeHtml(text)}</p>`;

function withBase(html: string): string {
  const head = html.search(/<head[\s>]/i);
  const end = head === -1 ? -1 : html.indexOf('>', head);
  return end === -1 ? HEAD + html : html.slice(0, end + 1) + HEAD + html.slice(end + 1);
}
