// What this costs is for the HTML to say, so it runs on a thread of the pool only: see `text-of-html.ts`.
import { compile } from 'html-to-text';
import type { FormatCallback } from 'html-to-text';
import type { Template, Variable } from '@postroom/templates/render';

/** Images tell what they show, if they say so; tracking pixels don't. */
const altText: FormatCallback = (image, _walk, builder) => {
  const alt: string | undefined = image.attribs?.alt;
  if (alt) builder.addInline(alt);
};

const cell = { leadingLineBreaks: 1, trailingLineBreaks: 1 };
const heading = (level: number) => ({ selector: `h${level}`, options: { uppercase: false } });

/** The text of an HTML document, with links in angle brackets behind their words. */
const htmlToText = compile({
  wordwrap: false,
  formatters: { altText },
  selectors: [
    { selector: 'a', options: { linkBrackets: ['<', '>'], hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'altText' },
    // Mail is laid out in tables, whose cells are paragraphs rather than columns.
    { selector: 'td', format: 'block', options: cell },
    { selector: 'th', format: 'block', options: cell },
    ...[1, 2, 3, 4, 5, 6].map(heading),
  ],
});

/** Non-characters, which no document holds, around the number of a variable while its template is converted. */
const MARKED = /\ufdd0(\d+)\ufdd1/g;

/** The text template of an HTML one, with the same variables where its text and links have them. */
export function textFromHtml(html: Template): Template {
  const marked = html.statics.reduce((before, piece, i) => `${before}\ufdd0${i - 1}\ufdd1${piece}`);
  const statics: string[] = [];
  const variables: Variable[] = [];
  const text = `${htmlToText(marked)
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
  let staticStart = 0;
  for (const match of text.matchAll(MARKED)) {
    const variable = html.variables[Number(match[1])];
    if (variable === undefined) continue;
    statics.push(text.slice(staticStart, match.index));
    // Inside a link a value stays encoded for it; elsewhere it is plain text.
    const context = variable.context.startsWith('url-') ? variable.context : 'text';
    variables.push({ ...variable, context });
    staticStart = match.index + match[0].length;
  }
  statics.push(text.slice(staticStart));
  const source = statics.map((piece, i) => piece + sourceOf(variables[i])).join('');
  return { format: 'text', source, statics, variables, problems: [] };
}

function sourceOf(variable: Variable | undefined): string {
  if (variable === undefined) return '';
  return variable.fallback === undefined
    ? `{{${variable.name}}}`
    : `{{${variable.name} | default: ${JSON.stringify(variable.fallback)}}}`;
}
