// The cost depends on untrusted HTML, so call this in another process unless it is short.
import { compile } from 'html-to-text';
import type { FormatCallback } from 'html-to-text';
import {
  MARK,
  markOf,
  markSlots,
  renderPieces,
  Scope,
  type Slot,
  sourceOf,
  splitAtMarks,
  type Template,
  type Values,
} from '@postroom/templating';

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
  const shown = withoutRepeatedLinks(converted, html.slots);
  const { statics, slots: found } = splitAtMarks(`${withTags(shown, html)}\n`, html.slots);
  const slots = found.map(inText);
  return { format: 'text', source: sourceOf({ statics, slots }), statics, slots, problems: [] };
}

/** Stands for an empty value, because no value has this control character. Unlike the noncharacters of marks, it keeps strings at one byte per character. */
const EMPTY = '\u0001';
// oxlint-disable-next-line no-control-regex -- It is there on purpose.
const EMPTY_LINK = / <\u0001+>/g;

/**
 * Renders a template of `textFromHtml` as if the text had been generated from the rendered HTML: a link without a URL is only its text,
 * and empty values leave no blank lines.
 * @throws as `renderPieces`
 */
export function renderGeneratedText(
  { statics, slots }: Template,
  values: Values,
  most?: number,
  maxWork?: number,
): string {
  const encode = (value: string) => (value === '' ? EMPTY : value);
  // Also where a link's URL begins with a slot, as tags may leave all of it out.
  const marked = statics.map((text) => (text.endsWith(' <') ? text + EMPTY : text));
  const rendered = renderPieces(marked, slots, new Scope(values, maxWork), encode, most);
  const shown = rendered
    .replaceAll(EMPTY_LINK, '')
    .replaceAll(EMPTY, '')
    .replace(/\n(?:[^\S\n]*\n){2,}/g, '\n\n');
  return `${shown.trim()}\n`;
}

/** Inside a URL a value stays URL-encoded; elsewhere it is plain text. */
function inText(slot: Slot): Slot {
  if (slot.kind !== 'variable' || slot.context.startsWith('url-')) return slot;
  return { ...slot, context: slot.context === 'url' ? 'plain-url' : 'text' };
}

/** Shows a link with placeholders once if its text is, or ends with, its URL, as the library does for other links. */
function withoutRepeatedLinks(text: string, slots: readonly Slot[]): string {
  let shown = '';
  let done = 0;
  for (const { 0: link, 1: url, index } of text.matchAll(/ <([^<>]*)>/g)) {
    const start = startOfRepeated(text, index, url!, slots);
    if (start === undefined || start < done) continue;
    shown += text.slice(done, start) + url;
    done = index + link.length;
  }
  return shown + text.slice(done);
}

/** Where the same URL starts in a text that ends with it at `end`; undefined if it does not, or has no placeholders. */
function startOfRepeated(text: string, end: number, url: string, slots: readonly Slot[]): number | undefined {
  const [first, ...rest] = url.split(MARK);
  if (rest.length === 0) return undefined;
  let at = end;
  for (let i = rest.length - 2; i >= 0; i -= 2) {
    const after = rest[i + 1]!;
    if (!text.endsWith(`\ufdd1${after}`, at)) return undefined;
    const close = at - after.length - 1;
    at = text.lastIndexOf('\ufdd0', close);
    if (!isUrlOf(slots[Number(text.slice(at + 1, close))], slots[Number(rest[i])])) return undefined;
  }
  return text.endsWith(first!, at) ? at - first!.length : undefined;
}

/** Whether a placeholder in a URL shows the same value as one in a text. */
function isUrlOf(text: Slot | undefined, url: Slot | undefined): boolean {
  if (text?.kind !== 'variable' || url?.kind !== 'variable' || !url.context.startsWith('url')) return false;
  return url.name === text.name && url.fallback === text.fallback && url.written === text.written;
}

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
