// Runs in a process without settings, so it imports only types from the platform.
import type { Prisma } from '@postroom/platform';
import type { ContentProblem } from './problems.ts';
import { compileMjml, lineOf } from './mjml.ts';
import { decodeEntities, htmlProblem, parseTemplate, type TemplateProblem } from '@postroom/templating';

export type ContentFormat = Prisma.TemplateModel['format'];

/** A body as stored: the HTML to send, and its source. */
export interface Body {
  html: string;
  format: ContentFormat;
  /** The MJML source; null if it was written as HTML. */
  source: string | null;
}

/** The problems of a body, and the body as it would be stored. */
export interface CheckedBody {
  body: Body;
  problems: ContentProblem[];
}

/** Mail clients clip larger mail, and MJML grows when it is compiled. */
export const MAX_LENGTH = { html: 500_000, mjml: 256_000 };

/** Validates a body; problems have positions in the source. Also returns the body as it would be stored. */
export async function checkBody(given: string, format: ContentFormat): Promise<CheckedBody> {
  const asItIs: Body = { html: given, format, source: format === 'mjml' ? given : null };
  const refused = (message: string) => ({ body: asItIs, problems: [{ message }] });
  if (given.length > MAX_LENGTH[format]) return refused(`must be at most ${MAX_LENGTH[format]} characters`);
  if (format === 'html') {
    const problems = isMjml(given) ? [mjmlProblem(given)] : problemsOf(given, asContentProblem);
    return { body: asItIs, problems };
  }
  const { html, problems } = await compileMjml(given);
  if (problems.length > 0) return { body: asItIs, problems };
  if (html.length > MAX_LENGTH.html) return refused(`must compile to at most ${MAX_LENGTH.html} characters of HTML`);
  const lost = lostTags(given, html);
  return {
    body: { ...asItIs, html },
    problems: lost.length > 0 ? lost : problemsOf(html, (problem) => inSource(problem, html, given)),
  };
}

/** Sent as HTML, its tags would be ignored, and with them the layout. */
const isMjml = (text: string) => /^\s*(?:<\?xml\b[^>]*>\s*)?<mjml\b/i.test(text);
const mjmlProblem = (source: string): ContentProblem => ({
  line: lineOf(source, source.search(/<mjml\b/i)),
  message: 'mjml: belongs to MJML, so the format must be mjml',
});

function problemsOf(html: string, toContentProblem: (problem: TemplateProblem) => ContentProblem): ContentProblem[] {
  const complexity = htmlProblem(html);
  return complexity === undefined
    ? parseTemplate(html, 'html').problems.map(toContentProblem)
    : [{ message: complexity }];
}

const asContentProblem = ({ line, column, message }: TemplateProblem): ContentProblem => ({ line, column, message });

const TAG = /\{%[^%]*%\}|<!--[\s\S]*?-->/g;
const plain = (tag: string) => decodeEntities(tag).replace(/\s+/g, '');

/** Template tags that the compiler dropped, because they stand between its elements: what they guard would always be shown. */
function lostTags(source: string, html: string): ContentProblem[] {
  const counts = new Map<string, number>();
  for (const [tag] of html.matchAll(TAG)) counts.set(plain(tag), (counts.get(plain(tag)) ?? 0) + 1);
  for (const { 0: tag, index } of source.matchAll(TAG)) {
    if (tag.startsWith('<')) continue;
    const left = counts.get(plain(tag)) ?? 0;
    if (left === 0)
      return [
        { line: lineOf(source, index), message: `${tag}: write tags between elements as <mj-raw>${tag}</mj-raw>` },
      ];
    counts.set(plain(tag), left - 1);
  }
  return [];
}

/** The longest piece of HTML to search for in its MJML source. */
const MAX_WORDS = 200;

/**
 * Maps a problem with a placeholder from the HTML to its MJML source, if the surrounding text is unique there. Only the
 * HTML tells whether a value is safe.
 */
function inSource({ position, message }: TemplateProblem, html: string, source: string): ContentProblem {
  const from = html.slice(position, position + MAX_WORDS);
  const words = /^\{[{%][^<"'\n]*?[}%]\}|^\{[{%][^<"'\n]*[<"']?/.exec(from)?.[0] ?? '';
  const at = source.indexOf(words);
  if (words === '' || at === -1 || source.includes(words, at + 1))
    return { message: `in the compiled HTML, ${message}` };
  return { line: lineOf(source, at), column: at - source.lastIndexOf('\n', at), message };
}
