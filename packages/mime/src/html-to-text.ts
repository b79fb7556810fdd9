// The cost depends on untrusted HTML, so call this only from a worker thread.
import { compile } from 'html-to-text';
import type { FormatCallback } from 'html-to-text';
import type { Template, Variable } from '@postroom/templates/render';

/** Renders images as their alt text, if any; tracking pixels have none. */
const altText: FormatCallback = (image, _walk, builder) => {
  const alt: string | undefined = image.attribs?.alt;
  if (alt) builder.addInline(alt);
};

const cell = { leadingLineBreaks: 1, trailingLineBreaks: 1 };
const heading = (level: number) => ({ selector: `h${level}`, options: { uppercase: false } });

/** Converts HTML to text, with each link's URL in angle brackets after its text. */
const htmlToText = compile({
  wordwrap: false,
  formatters: { altText },
  selectors: [
    { selector: 'a', options: { linkBrackets: ['<', '>'], hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'altText' },
    // Email uses tables for layout, so treat cells as paragraphs rather than columns.
    { selector: 'td', format: 'block', options: cell },
    { selector: 'th', format: 'block', options: cell },
    ...[1, 2, 3, 4, 5, 6].map(heading),
  ],
});

/** Placeholder for a variable during conversion: its index between Unicode noncharacters, which documents never contain. */
const PLACEHOLDER = /\ufdd0(\d+)\ufdd1/g;

/** Derives a text template from an HTML template, keeping the variables in its text and links. */
export function textFromHtml(html: Template): Template {
  const withPlaceholders = html.statics.reduce((before, piece, i) => `${before}\ufdd0${i - 1}\ufdd1${piece}`);
  const statics: string[] = [];
  const variables: Variable[] = [];
  const text = `${htmlToText(withPlaceholders)
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
  let staticStart = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const variable = html.variables[Number(match[1])];
    if (variable === undefined) continue;
    statics.push(text.slice(staticStart, match.index));
    // Inside a URL a value stays URL-encoded; elsewhere it is plain text.
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
