// Runs on a thread of the pool: it imports nothing of the platform but types.
import type { Prisma } from '@postroom/platform';
import type { ContentProblem } from './problems.ts';
import { compileMjml, lineOf } from './mjml.ts';
import { htmlProblem, parseTemplate, type TemplateProblem } from './render/index.ts';

export type ContentFormat = Prisma.TemplateModel['format'];

/** A body as it is kept: the HTML that is sent, and what it was written in. */
export interface Body {
  html: string;
  format: ContentFormat;
  /** The MJML it was made from; null when it is HTML as it was written. */
  source: string | null;
}

/** What is wrong with a body, and the body as it would be kept. */
export interface CheckedBody {
  body: Body;
  flaws: ContentProblem[];
}

/** Larger mail is cut off by its readers, and MJML grows when it is compiled. */
const MAX_LENGTH = { html: 500_000, mjml: 256_000 };

/** What is wrong with a body, by where it stands in what its author wrote; and the body as it would be kept. */
export async function checkBody(given: string, format: ContentFormat): Promise<CheckedBody> {
  const asItIs: Body = { html: given, format, source: format === 'mjml' ? given : null };
  const refused = (message: string) => ({ body: asItIs, flaws: [{ message }] });
  if (given.length > MAX_LENGTH[format]) return refused(`must be at most ${MAX_LENGTH[format]} characters`);
  if (format === 'html') return { body: asItIs, flaws: flawsOf(given, asFlaw) };
  const { html, flaws } = await compileMjml(given);
  if (flaws.length > 0) return { body: asItIs, flaws };
  if (html.length > MAX_LENGTH.html) return refused(`must make at most ${MAX_LENGTH.html} characters of HTML`);
  return { body: { ...asItIs, html }, flaws: flawsOf(html, (problem) => inSource(problem, html, given)) };
}

function flawsOf(html: string, flawOf: (problem: TemplateProblem) => ContentProblem): ContentProblem[] {
  const complexity = htmlProblem(html);
  return complexity === undefined ? parseTemplate(html, 'html').problems.map(flawOf) : [{ message: complexity }];
}

const asFlaw = ({ line, column, message }: TemplateProblem): ContentProblem => ({ line, column, message });

/** The longest piece of HTML that is looked for in the MJML it was made of. */
const MAX_WORDS = 200;

/**
 * Where a placeholder of the HTML stands in the MJML it was made of: where the same words stand, if only one place has them.
 * Whether a value is safe is known of the HTML alone.
 */
function inSource({ position, message }: TemplateProblem, html: string, source: string): ContentProblem {
  const from = html.slice(position, position + MAX_WORDS);
  const words = /^\{\{[^<"'\n]*?\}\}|^\{\{[^<"'\n]*[<"']?/.exec(from)?.[0] ?? '';
  const at = source.indexOf(words);
  if (words === '' || at === -1 || source.includes(words, at + 1))
    return { message: `in the HTML it is made into, ${message}` };
  return { line: lineOf(source, at), column: at - source.lastIndexOf('\n', at), message };
}
