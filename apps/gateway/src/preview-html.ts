// Runs on a thread of the pool: what a preview costs is for its author to say.
import { escapeHtml, htmlProblem, parseTemplate, renderTemplate, type Values } from '@postroom/templates/render';

/** A preview has as many characters as an email may have, at most. */
const MAX_LENGTH = 5_000_000;

/** Links open elsewhere, since the frame is the mail. A base in the text itself comes later and counts for nothing. */
const HEAD = '<base target="_blank">';

/** Makes the document a stop of the Tab key, or a long mail without a link could not be scrolled by keyboard; it adds to the tag of the text itself. */
const TAIL = '<html tabindex="0">';

/** The HTML of a template with its placeholders filled in, as a document for a frame; with a line about what is wrong with it. */
export function previewHtml(html: string, values: Values): string {
  const complexity = htmlProblem(html);
  if (complexity !== undefined) return notice(`The HTML ${complexity}.`);
  const template = parseTemplate(html, 'html');
  const [problem] = template.problems;
  const shown = renderTemplate(template, values, MAX_LENGTH);
  return (problem === undefined ? '' : notice(`Line ${problem.line}: ${problem.message}`)) + withBase(shown) + TAIL;
}

/** A line that stands in place of a mail, or before it. */
export const notice = (text: string) =>
  `<p style="margin:0;padding:8px 12px;background:#fff3bf;color:#5c3c00;font:14px/1.4 system-ui,sans-serif">${escapeHtml(text)}</p>`;

function withBase(html: string): string {
  const head = html.search(/<head[\s>]/i);
  const end = head === -1 ? -1 : html.indexOf('>', head);
  return end === -1 ? HEAD + html : html.slice(0, end + 1) + HEAD + html.slice(end + 1);
}
