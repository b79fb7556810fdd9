// Long text is filled in and HTML converted in processes without settings, so it must not import the platform.
import {
  htmlProblem,
  literalTemplate,
  MAX_SUBJECT_LENGTH,
  missing,
  parseTemplate,
  RenderError,
  renderTemplate,
  type Template,
  type TemplateFormat,
  type Values,
} from '@postroom/templating';
import { LRUCache } from 'lru-cache';
import { renderGeneratedText, textFromHtml } from '@postroom/mime';

/** The content to fill in. Placeholders are left alone if `values` is null. */
export interface ContentInput {
  subject: string | null;
  html: string | null;
  text: string | null;
  values: Values | null;
  /** The names of values that show nothing if they are blank. Others without a default are required. */
  mayBeBlank?: readonly string[] | undefined;
}

/** What placeholders are filled in with. */
type Fillings = { values: Values } & Pick<ContentInput, 'mayBeBlank'>;

/** The filled content and its problems; `field` is a member of the input or `variables.<name>`. */
export interface FilledContent {
  subject: string | null;
  html: string | null;
  text: string | null;
  /** The text generated from the HTML; null if the email has its own text. */
  htmlText: string | null;
  problems: { field: string; message: string }[];
}

/** The most characters of a body, before and after placeholders are filled in. */
export const MAX_TEXT_LENGTH = 5_000_000;

/** What the problem of a missing variable has before its name. */
export const VARIABLES = 'variables.';

/** The most missing variables reported per field. */
const MAX_MISSING = 100;

/** Fills placeholders in, and generates text if there is only HTML. */
export const fillContent = (given: ContentInput): FilledContent => addText(fillPlaceholders(given));

/** About the most characters that `fillAll` returns. */
const MAX_GROUP_LENGTH = 10_000_000;

/** `fillContent` for several emails. The last ones are undefined if those before are too long together. */
export function fillAll(given: readonly ContentInput[]): (FilledContent | undefined)[] {
  let length = 0;
  return given.map((each) => {
    if (length > MAX_GROUP_LENGTH) return undefined;
    const filled = fillContent(each);
    length += lengthOfContent(filled);
    return filled;
  });
}

/** The characters of the bodies of an email. */
export const lengthOfContent = ({ html, text }: Pick<FilledContent, 'html' | 'text'>): number =>
  (html?.length ?? 0) + (text?.length ?? 0);

/** Fills placeholders in. */
export function fillPlaceholders({ values, mayBeBlank, ...given }: ContentInput): FilledContent {
  const problems: FilledContent['problems'] = [];
  const fill = (field: TemplateFormat) => {
    const source = given[field];
    return source === null || values === null
      ? source
      : fillIn(parseCached(source, field), field, { values, mayBeBlank }, problems);
  };
  const [subject, html, text] = [fill('subject'), fill('html'), fill('text')];
  return { subject, html, text, htmlText: null, problems };
}

/** Checks filled HTML, and generates text from it if there is none. */
export function addText(filled: FilledContent): FilledContent {
  const { html, text, problems } = filled;
  if (html === null || problems.length > 0) return filled;
  const complexity = htmlProblem(html);
  if (complexity !== undefined) return { ...filled, problems: [{ field: 'html', message: complexity }] };
  if (text !== null) return filled;
  return { ...filled, htmlText: renderTemplate(textOfHtml(literalTemplate('html', html)), {}, MAX_TEXT_LENGTH) };
}

/** A parsed HTML template, and the text template generated from it. */
interface BodyTemplates {
  html: Template;
  text: Template;
}

/**
 * Parses an HTML template and generates its text template. The text is undefined if the HTML can't be sent or has tags, because these
 * may leave out parts with their line breaks.
 */
export function bodyTemplatesOf(source: string): BodyTemplates | { text: undefined } {
  const html = parseTemplate(source, 'html');
  const isFixed = html.problems.length === 0 && html.slots.every(({ kind }) => kind === 'variable');
  return isFixed && htmlProblem(source) === undefined ? { html, text: textFromHtml(html) } : { text: undefined };
}

/** Fills in the subject and both bodies of an email that was given no text. */
export function fillBodyTemplates(
  { html, text }: BodyTemplates,
  subject: string | null,
  fillings: Fillings,
): FilledContent {
  const problems: FilledContent['problems'] = [];
  const filled = {
    subject: subject === null ? null : fillIn(parseCached(subject, 'subject'), 'subject', fillings, problems),
    html: fillIn(html, 'html', fillings, problems),
    text: null,
    problems,
  };
  if (problems.length > 0) return { ...filled, htmlText: null };
  return { ...filled, htmlText: fillIn(text, 'html', fillings, problems, renderGeneratedText) };
}

/** Short templates that were filled in lately, by format and source. Emails that share one come in large numbers. */
const templates = new LRUCache<string, Template>({
  max: 200,
  memoMethod: (key) => {
    const separator = key.indexOf(' ');
    return parseTemplate(key.slice(separator + 1), key.slice(0, separator) as TemplateFormat);
  },
});
const MAX_KEPT = 10_000;

const parseCached = (source: string, format: TemplateFormat) =>
  source.length > MAX_KEPT ? parseTemplate(source, format) : templates.memo(`${format} ${source}`);

function fillIn(
  template: Template,
  field: TemplateFormat,
  { values, mayBeBlank = [] }: Fillings,
  problems: FilledContent['problems'],
  render = renderTemplate,
): string {
  const { source } = template;
  for (const { line, column, message } of template.problems)
    problems.push({ field, message: `line ${line}, column ${column}: ${message}` });
  const known = new Set(problems.map((problem) => problem.field));
  if (template.problems.length > 0) return source;
  try {
    const required = missing(template, values).filter((name) => !mayBeBlank.includes(name));
    for (const name of required.slice(0, MAX_MISSING)) {
      if (known.has(VARIABLES + name)) continue;
      problems.push({ field: VARIABLES + name, message: 'is required, because its placeholder has no default' });
    }
    if (problems.length > 0) return source;
    return render(template, values, field === 'subject' ? MAX_SUBJECT_LENGTH : MAX_TEXT_LENGTH);
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    problems.push({ field, message: error.message });
    return source;
  }
}

/** The text template of an HTML template. @throws Error if the HTML is too complex or its text too long. */
export function textOfHtml(html: Template): Template {
  const complexity = htmlProblem(html.source);
  if (complexity !== undefined) throw new Error(`The HTML ${complexity}.`);
  const text = textFromHtml(html);
  if (text.source.length > MAX_TEXT_LENGTH)
    throw new Error(`The text generated from the HTML has more than ${MAX_TEXT_LENGTH} characters.`);
  return text;
}
