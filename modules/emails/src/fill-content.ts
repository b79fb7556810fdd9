// Runs on a thread of the pool where a text is long or has to be converted: it imports nothing of the platform.
import {
  htmlProblem,
  missing,
  parseTemplate,
  renderTemplate,
  type Template,
  type TemplateFormat,
  TooLongError,
  type Values,
} from '@postroom/templates/render';
import { textFromHtml } from '@postroom/mime';

/** What an email is to say; with values, its placeholders are filled in. */
export interface GivenWords {
  subject: string | null;
  html: string | null;
  text: string | null;
  values: Values | null;
}

/** What an email says, and what is wrong with it: `field` is one of the above, or `variables.<name>`. */
export interface WrittenWords {
  subject: string | null;
  html: string | null;
  text: string | null;
  /** The text made from the HTML; null when the email has a text of its own. */
  htmlText: string | null;
  problems: { field: string; message: string }[];
}

/** Characters that a body may have, also after its placeholders are filled in. */
export const MAX_TEXT_LENGTH = 5_000_000;

/** So many variables without a value are named for each field. */
const MAX_MISSING = 100;

/** Fills placeholders in, and makes a text from HTML that comes without one. */
export function writeGiven({ values, ...given }: GivenWords): WrittenWords {
  const problems: WrittenWords['problems'] = [];
  const fill = (field: 'subject' | 'html' | 'text') => {
    const source = given[field];
    return source === null || values === null ? source : fillIn(source, field, values, problems);
  };
  const [subject, html, text] = [fill('subject'), fill('html'), fill('text')];
  const written = { subject, html, text, htmlText: null, problems };
  if (html === null || problems.length > 0) return written;
  const complexity = htmlProblem(html);
  if (complexity !== undefined) problems.push({ field: 'html', message: complexity });
  if (complexity !== undefined || text !== null) return written;
  const { source: htmlText } = textOfHtml({
    format: 'html',
    source: html,
    statics: [html],
    variables: [],
    problems: [],
  });
  return { ...written, htmlText };
}

function fillIn(source: string, format: TemplateFormat, values: Values, problems: WrittenWords['problems']): string {
  const template = parseTemplate(source, format);
  for (const { line, column, message } of template.problems)
    problems.push({ field: format, message: `line ${line}, column ${column}: ${message}` });
  const known = new Set(problems.map((problem) => problem.field));
  for (const name of missing(template, values).slice(0, MAX_MISSING)) {
    if (known.has(`variables.${name}`)) continue;
    problems.push({ field: `variables.${name}`, message: 'is required, because its placeholder has no default' });
  }
  if (problems.length > 0) return source;
  try {
    return renderTemplate(template, values, MAX_TEXT_LENGTH);
  } catch (error) {
    if (!(error instanceof TooLongError)) throw error;
    problems.push({ field: format, message: error.message });
    return source;
  }
}

/** The text template of an HTML one. @throws Error when the HTML is too complex, or its text too long. */
export function textOfHtml(html: Template): Template {
  const complexity = htmlProblem(html.source);
  if (complexity !== undefined) throw new Error(`The HTML ${complexity}.`);
  const text = textFromHtml(html);
  if (text.source.length > MAX_TEXT_LENGTH)
    throw new Error(`The text made from the HTML has more than ${MAX_TEXT_LENGTH} characters.`);
  return text;
}
