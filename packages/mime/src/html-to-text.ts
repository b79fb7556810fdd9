// The cost depends on untrusted HTML, so call this only from a worker thread.
import { compile } from 'html-to-text';
import type { FormatCallback } from 'html-to-text';
import { linkSlots, markOf, markSlots, type Slot, sourceOf, splitAtMarks, type Template } from '@postroom/templating';

/** Renders images as their alt text, if any; tracking pixels have none. */
const altText: FormatCallback = (image, _walk, builder) => {
  const alt: string | undefined = image.attribs?.alt;
  if (alt) builder.addInline(alt);
};

/** Leaves out what is hidden. If its style depends on values, it may be shown. */
const unlessHidden: FormatCallback = (element, walk, builder) => {
  if (element.attribs?.style?.search(MARK) === -1) return;
  builder.openBlock(cell);
  walk(element.children, builder);
  builder.closeBlock(cell);
};

/** Keeps the scheme of an address with a subject or body, which would otherwise look like part of the address. */
const withScheme = (url: string, _meta: unknown, ...[link]: { attribs: Record<string, string> }[]) =>
  url.includes('?') ? (link?.attribs.href ?? url) : url;

const cell = { leadingLineBreaks: 1, trailingLineBreaks: 1 };
const heading = (level: number) => ({ selector: `h${level}`, options: { uppercase: false } });

/** Converts HTML to text, with each link's URL in angle brackets after its text. */
const htmlToText = compile({
  wordwrap: false,
  formatters: { altText, unlessHidden },
  // All of the document: mail programs also show what stands before or after its body.
  baseElements: { selectors: [] },
  selectors: [
    { selector: 'title', format: 'skip' },
    { selector: '[style*="display:none" i]', format: 'unlessHidden' },
    { selector: '[style*="display: none" i]', format: 'unlessHidden' },
    {
      selector: 'a',
      options: { linkBrackets: ['<', '>'], hideLinkHrefIfSameAsText: true, pathRewrite: withScheme },
    },
    { selector: 'img', format: 'altText' },
    // Email uses tables for layout, so treat cells as paragraphs rather than columns.
    { selector: 'td', format: 'block', options: cell },
    { selector: 'th', format: 'block', options: cell },
    ...[1, 2, 3, 4, 5, 6].map(heading),
  ],
});

/**
 * Derives a text template from an HTML template, keeping the placeholders in its text and links, and all tags.
 * @throws Error if tags are not nested in the text, because they enclose parts of the HTML that it leaves out.
 */
export function textFromHtml(html: Template): Template {
  const converted = htmlToText(markSlots(html))
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const found = splitAtMarks(`${withTags(converted, html)}\n`, html.slots);
  const { statics, slots } = withoutRepeatedLinks(found.statics, found.slots.map(inText));
  return { format: 'text', source: sourceOf({ statics, slots }), statics, slots, problems: [] };
}

/** Inside a URL a value stays URL-encoded; elsewhere it is plain text. */
function inText(slot: Slot): Slot {
  if (slot.kind !== 'variable' || slot.context.startsWith('url-')) return slot;
  return { ...slot, context: slot.context === 'url' ? 'plain-url' : 'text' };
}

/** Shows a link once if its text is, or ends with, the placeholder of its URL. */
function withoutRepeatedLinks(statics: readonly string[], slots: readonly Slot[]) {
  const kept = { statics: [statics[0]!], slots: [] as Slot[] };
  slots.forEach((slot, i) => {
    const [before, after] = [statics[i]!, statics[i + 1]!];
    const text = slots[i - 1];
    if (before === ' <' && after.startsWith('>') && isUrlOf(text, slot)) {
      kept.slots[kept.slots.length - 1] = slot;
      kept.statics[kept.slots.length] = after.slice(1);
    } else {
      kept.slots.push(slot);
      kept.statics.push(after);
    }
  });
  return { statics: kept.statics, slots: linkSlots(kept.slots) };
}

/** Whether a placeholder for a whole URL, or the address after `mailto:`, is the same as the text before it. */
function isUrlOf(text: Slot | undefined, url: Slot): boolean {
  if (text?.kind !== 'variable' || url.kind !== 'variable') return false;
  if (url.context !== 'plain-url' && url.context !== 'url-address') return false;
  return url.name === text.name && url.fallback === text.fallback && url.written === text.written;
}

const MARK = /\ufdd0(\d+)\ufdd1/g;
const LINE_OF_MARKS = /^[^\S\n]*((?:\ufdd0\d+\ufdd1[^\S\n]*)+)(?:\n+|$)/gm;

/**
 * Puts tags back that stand in parts of the HTML that have no text, such as its head, and removes the line breaks after lines
 * that hold only tags, so that they leave no blank lines.
 */
function withTags(text: string, { slots }: Template): string {
  const isTag = (number: number) => slots[number] !== undefined && slots[number].kind !== 'variable';
  const kept = new Set(Array.from(text.matchAll(MARK), ([, number]) => Number(number)));
  const lost = slots.flatMap((_, number) => (isTag(number) && !kept.has(number) ? [number] : []));
  let next = 0;
  const lostBefore = (number: number) => {
    let marks = '';
    for (; next < lost.length && lost[next]! < number; next++) marks += markOf(lost[next]!);
    return marks;
  };
  const whole = text.replace(MARK, (mark, number) => lostBefore(Number(number)) + mark) + lostBefore(Infinity);
  return whole.replace(LINE_OF_MARKS, (line, marks: string) => {
    const numbers = Array.from(marks.matchAll(MARK), ([, number]) => Number(number));
    return numbers.every(isTag) ? numbers.map(markOf).join('') : line;
  });
}
