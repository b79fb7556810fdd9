import {
  addToBody,
  markOf,
  markSlots,
  renderPieces,
  type Scope,
  type Slot,
  splitAtMarks,
  type Template,
  type Values,
  type Variable,
} from '@postroom/templating';
import { findLinks } from './find-links.ts';
import { decodeUrl, type Link, readLink, WEB } from './read-link.ts';
import { sealValues, trackingToken } from './token.ts';

/** What is tracked in a message. */
export interface TrackingSwitches {
  opens: boolean;
  clicks: boolean;
}

/** A message's HTML with tracked links and a pixel. */
export interface TrackedHtml {
  html: Template;
  /** Link targets by number. Placeholders in them are kept as written. */
  links: string[];
  /** Adds the tracking values of a message to the recipient's values. Personal links are computed where they stand. */
  valuesFor: (messageId: string, values: Values) => Values;
}

/** A link with placeholders. */
interface PersonalLink extends Link {
  number: number;
  name: string;
}

/** A reserved name that no placeholder in a template can have. */
const TOKEN = ':token';

/**
 * Replaces the links of a message with tracked ones and adds a pixel. A link without placeholders costs each recipient one
 * splice; one with placeholders carries its values encrypted. Unsubscribe links and links that are not http(s) stay as they
 * are.
 * @param base the start of tracked URLs, without a trailing slash.
 */
export function trackHtml(template: Template, { opens, clicks }: TrackingSwitches, base: string): TrackedHtml {
  const links: string[] = [];
  const personal: PersonalLink[] = [];
  const slots: Slot[] = [...template.slots];
  const mark = (variable: Variable) => markOf(slots.push(variable) - 1);
  const token = () => mark(readyVariable(TOKEN));
  let html = markSlots(template);
  if (clicks) {
    let tracked = '';
    let done = 0;
    for (const { start, end } of findLinks(html)) {
      const link = readLink(html.slice(start, end), template.slots);
      if (link === undefined) continue;
      const number = links.push(link.source) - 1;
      const name = `:link${number}`;
      if (link.slots.length > 0) personal.push({ ...link, number, name });
      const replacement = link.slots.length > 0 ? mark(readyVariable(name)) : `${base}/t/c/${token()}.${number}`;
      tracked += html.slice(done, start) + replacement;
      done = end;
    }
    html = tracked + html.slice(done);
  }
  if (opens) html = withPixel(html, `${base}/t/o/${token()}`);
  const valuesFor = (messageId: string, values: Values): Values => {
    const token = trackingToken(messageId);
    const withLinks: Record<string, unknown> = { ...values, [TOKEN]: token };
    for (const link of personal)
      withLinks[link.name] = (scope: Scope) => personalUrl(base, messageId, token, link, scope);
    return withLinks;
  };
  return { html: { ...template, ...splitAtMarks(html, slots) }, links, valuesFor };
}

const readyVariable = (name: string): Variable => ({
  kind: 'variable',
  name,
  fallback: undefined,
  context: 'ready',
  position: 0,
});

/** A recipient's URL of a personal link, as HTML: tracked if it is http(s), else unchanged. */
function personalUrl(base: string, messageId: string, token: string, link: PersonalLink, scope: Scope): string {
  const { statics, slots, isWhole } = link;
  const filled: string[] = [];
  const html = renderPieces(statics, slots, scope, (value) => (filled.push(value), value), MAX_URL_LENGTH);
  if (!WEB.test(decodeUrl(html))) return html;
  const sealed = sealValues(
    messageId,
    link.number,
    (isWhole ? [html.trim()] : filled).map((value) => decodeUrl(value)),
  );
  return `${base}/t/c/${token}.${link.number}.${sealed}`;
}

/** Longer links do not work in browsers. */
const MAX_URL_LENGTH = 100_000;

/** The target URL of a link, with the values that were sealed for its recipient; undefined if it is not http(s). */
export function targetOf(source: string, values: readonly string[] | undefined): string | undefined {
  let next = 0;
  const url =
    values === undefined
      ? source
      : source.includes('{%')
        ? (values[0] ?? '')
        : source.replace(/\{\{[\w.-]*\}\}/g, () => values[next++] ?? '');
  return WEB.test(url) && URL.canParse(url) ? new URL(url).href : undefined;
}

/** Adds the pixel at the end of the body, where it does not affect the layout. */
function withPixel(html: string, url: string): string {
  const pixel = `<img src="${url}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`;
  return addToBody(html, pixel);
}
