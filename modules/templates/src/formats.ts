import type { FieldProblem, Prisma } from '@postroom/platform';
import { placeholderProblems } from './placeholders.ts';

export type ContentFormat = Prisma.TemplateModel['format'];

/** A body as it is kept: the HTML that is sent, and what it was written in. */
export interface Body {
  html: string;
  format: ContentFormat;
  /** The MJML it was made from; null when it is HTML as it was written. */
  source: string | null;
}

/** Larger mail is cut off by its readers, and MJML grows when it is compiled. */
const MAX_LENGTH = { html: 500_000, mjml: 256_000 };

/** What is wrong with a body, or the body as it is kept. Its problems are those of `field`, and say where they are. */
export async function readBody(
  field: string,
  given: string,
  format: ContentFormat,
): Promise<{ body: Body; problems: FieldProblem[] }> {
  const problem = (message: string) => ({ field, message });
  const asItIs: Body = { html: given, format, source: format === 'mjml' ? given : null };
  if (given.length > MAX_LENGTH[format])
    return { body: asItIs, problems: [problem(`must be at most ${MAX_LENGTH[format]} characters`)] };
  if (format === 'html') return { body: asItIs, problems: placeholderProblems(field, given, 'html') };
  const { html, problems } = await compileMjml(given);
  if (problems.length > 0) return { body: asItIs, problems: problems.map(problem) };
  if (html.length > MAX_LENGTH.html)
    return { body: asItIs, problems: [problem(`must make at most ${MAX_LENGTH.html} characters of HTML`)] };
  const unsafe = placeholderProblems(field, html, 'html');
  return {
    body: { ...asItIs, html },
    problems: unsafe.map(({ message }) => problem(`in the HTML it is made into, ${message}`)),
  };
}

/** Compiles MJML. Whatever it says is wrong is refused, since it would leave out or guess. */
async function compileMjml(source: string): Promise<{ html: string; problems: string[] }> {
  // An include would read files of the server. The compiler is told to read none, and the author that there are none.
  const included = lineOf(source, /<mj-include\b/i);
  if (included !== undefined)
    return { html: '', problems: [`line ${included}, mj-include: files can not be included`] };
  // It is large, and only those who write MJML need it.
  const { default: mjml2html } = await import('mjml');
  try {
    // Without its table of fonts nothing is fetched from elsewhere, unless the author names it.
    const options = { validationLevel: 'soft', ignoreIncludes: true, fonts: {}, keepComments: false } as const;
    const { html, errors } = await mjml2html(source, options);
    return {
      html,
      problems: errors.map(({ line, tagName, message }) => `line ${line}, ${tagName}: ${message.trim()}`),
    };
  } catch (error) {
    return { html: '', problems: [error instanceof Error ? error.message : String(error)] };
  }
}

function lineOf(source: string, pattern: RegExp): number | undefined {
  const at = source.search(pattern);
  return at === -1 ? undefined : source.slice(0, at).split('\n').length;
}
