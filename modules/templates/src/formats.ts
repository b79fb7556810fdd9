import type { FieldProblem, Prisma } from '@postroom/platform';
import { type Flaw, inWords, placeholderFlaws } from './flaws.ts';
import { compileMjml } from './mjml.ts';

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

/**
 * What somebody means who gives a body. Who writes back what they read gives the HTML that MJML was made into and says that
 * it is MJML: they mean the MJML.
 */
export function asSubmitted<T extends string | null | undefined>(
  given: T,
  format: ContentFormat | null | undefined,
  kept: { html: string | null; format: ContentFormat; source: string | null },
): T | string {
  const isUnchanged = given != null && given === kept.html && format === 'mjml' && kept.format === 'mjml';
  return isUnchanged ? (kept.source ?? given) : given;
}

/** What is wrong with a body, or the body as it is kept. Its problems are those of `field`, and say where they are. */
export async function readBody(
  field: string,
  given: string,
  format: ContentFormat,
): Promise<{ body: Body; problems: FieldProblem[] }> {
  const { body, flaws } = await checkBody(given, format);
  return { body, problems: flaws.map((flaw) => ({ field, message: inWords(flaw) })) };
}

/** What is wrong with a body, by where it stands in what its author wrote; and the body as it would be kept. */
export async function checkBody(given: string, format: ContentFormat): Promise<{ body: Body; flaws: Flaw[] }> {
  const asItIs: Body = { html: given, format, source: format === 'mjml' ? given : null };
  const refused = (message: string) => ({ body: asItIs, flaws: [{ message }] });
  if (given.length > MAX_LENGTH[format]) return refused(`must be at most ${MAX_LENGTH[format]} characters`);
  if (format === 'html') return { body: asItIs, flaws: placeholderFlaws(given, 'html') };
  const { html, flaws } = await compileMjml(given);
  if (flaws.length > 0) return { body: asItIs, flaws };
  if (html.length > MAX_LENGTH.html) return refused(`must make at most ${MAX_LENGTH.html} characters of HTML`);
  return {
    body: { ...asItIs, html },
    flaws: placeholderFlaws(html, 'html').map((flaw) => inSource(flaw, html, given)),
  };
}

/**
 * Where a placeholder of the HTML stands in the MJML it was made of: where the same words stand, if only one place has them.
 * Whether a value is safe is known of the HTML alone.
 */
function inSource({ line = 1, column = 1, message }: Flaw, html: string, source: string): Flaw {
  const from =
    html
      .split('\n')
      .at(line - 1)
      ?.slice(column - 1) ?? '';
  const words = /^\{\{[^<"'\n]*?\}\}|^\{\{[^<"'\n]*[<"']?/.exec(from)?.[0] ?? '';
  const at = source.indexOf(words);
  if (words === '' || at === -1 || source.includes(words, at + 1))
    return { message: `in the HTML it is made into, ${message}` };
  const before = source.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n'), message };
}
