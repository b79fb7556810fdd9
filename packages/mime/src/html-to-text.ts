// The cost depends on untrusted HTML, so call this only from a worker thread.
import { compile } from 'html-to-text';
import type { FormatCallback } from 'html-to-text';
import { markVariables, sourceOf, splitAtMarks, type Template } from '@postroom/templating';

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

/** Derives a text template from an HTML template, keeping the variables in its text and links. */
export function textFromHtml(html: Template): Template {
  const text = `${htmlToText(markVariables(html))
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
  const { statics, variables: found } = splitAtMarks(text, html.variables);
  // Inside a URL a value stays URL-encoded; elsewhere it is plain text.
  const variables = found.map((variable) =>
    variable.context.startsWith('url-') ? variable : { ...variable, context: 'text' as const },
  );
  return { format: 'text', source: sourceOf({ statics, variables }), statics, variables, problems: [] };
}
