import { config } from '@postroom/platform';
import {
  addToBody,
  decodeEntities,
  type Template,
  valueFor,
  type Values,
  type Variable,
} from '@postroom/templates/render';
import { findLinks } from './find-links.ts';
import { sealValues, trackingToken } from './token.ts';

/** What of a message is tracked. */
export interface TrackingSwitches {
  opens: boolean;
  clicks: boolean;
}

/** A message's HTML with its links and pixel leading through us. */
export interface TrackedHtml {
  html: Template;
  /** Where its links lead, by their numbers; one with placeholders as its author wrote it. */
  links: string[];
  /** What the HTML needs beside the recipient's values. */
  valuesFor: (messageId: string, values: Values) => Values;
}

/** A link that is not the same for every recipient: its pieces, as HTML. */
interface OwnLink {
  number: number;
  name: string;
  statics: string[];
  variables: Variable[];
}

/** No placeholder of an author can be called so. */
const TOKEN = ':token';

/** Non-characters, which no document holds, around the number of a variable. */
const MARK = /\ufdd0(\d+)\ufdd1/g;

/**
 * Lets the links of a message lead through us, and adds a pixel. A link that is the same for everybody costs each recipient
 * a splice; one with placeholders carries its values, encrypted. Links to anything but the web and links to unsubscribe by
 * are left as they are.
 * @param base what our links begin with, without a slash at the end.
 */
export function trackHtml(template: Template, { opens, clicks }: TrackingSwitches, base: string): TrackedHtml {
  const links: string[] = [];
  const own: OwnLink[] = [];
  const variables = [...template.variables];
  const mark = (variable: Variable) => `\ufdd0${variables.push(variable) - 1}\ufdd1`;
  const token = () => mark(ready(TOKEN));
  let html = template.statics
    .map((piece) => piece.replace(/[\ufdd0\ufdd1]/g, ''))
    .reduce((before, piece, i) => `${before}\ufdd0${i - 1}\ufdd1${piece}`);
  if (clicks) {
    let tracked = '';
    let done = 0;
    for (const { start, end } of findLinks(html)) {
      const link = readLink(html.slice(start, end), template.variables);
      if (link === undefined) continue;
      const number = links.push(link.source) - 1;
      const name = `:link${number}`;
      if (link.variables.length > 0) own.push({ ...link, number, name });
      const shown = link.variables.length > 0 ? mark(ready(name)) : `${base}/t/c/${token()}.${number}`;
      tracked += html.slice(done, start) + shown;
      done = end;
    }
    html = tracked + html.slice(done);
  }
  if (opens) html = withPixel(html, `${base}/t/o/${token()}`);
  const valuesFor = (messageId: string, values: Values): Values => {
    const made: Record<string, string> = { [TOKEN]: trackingToken(messageId) };
    for (const link of own) made[link.name] = ownUrl(base, messageId, made[TOKEN]!, link, values);
    return { ...values, ...made };
  };
  return { html: fromMarked(template, html, variables), links, valuesFor };
}

const ready = (name: string): Variable => ({ name, fallback: undefined, context: 'ready', position: 0 });

/** In the value of an attribute only what ends with a semicolon is an entity, or `?a=1&lt=2` would be another link. */
const decodeUrl = (html: string) => html.replace(/&(?:#\d+|#x[\da-f]+|[a-z]+);/gi, decodeEntities);

const WEB = /^\s*https?:\/\/[^\s/]/i;

/** A link that is to be tracked, in pieces; undefined for one that is not. */
function readLink(
  value: string,
  variables: readonly Variable[],
): (Omit<OwnLink, 'number' | 'name'> & { source: string }) | undefined {
  const statics: string[] = [];
  const within: Variable[] = [];
  let at = 0;
  for (const match of value.matchAll(MARK)) {
    statics.push(value.slice(at, match.index));
    within.push(variables[Number(match[1])]!);
    at = match.index + match[0].length;
  }
  statics.push(value.slice(at));
  const pieces = statics.map((piece) => decodeUrl(piece));
  const source = pieces.reduce((before, piece, i) => `${before}{{${within[i - 1]!.name}}}${piece}`).trim();
  // A value at the very beginning decides for itself, recipient by recipient.
  const isWeb = within.length > 0 && pieces[0]!.trim() === '' ? within[0]!.context === 'url' : WEB.test(source);
  if (!isWeb || /unsubscribe/i.test(source) || source.startsWith(`${config.PUBLIC_URL}/u/`)) return undefined;
  if (within.length === 0 && !URL.canParse(source)) return undefined;
  return { statics, variables: within, source };
}

/** A link of a recipient's own, as HTML: through us when it leads to the web, else as it is. */
function ownUrl(base: string, messageId: string, token: string, link: OwnLink, values: Values): string {
  const filled = link.variables.map((variable) => valueFor(variable, values));
  const html = link.statics.reduce((before, piece, i) => before + filled[i - 1]! + piece);
  if (!WEB.test(decodeUrl(html))) return html;
  const sealed = sealValues(
    messageId,
    link.number,
    filled.map((value) => decodeUrl(value)),
  );
  return `${base}/t/c/${token}.${link.number}.${sealed}`;
}

/** The URL of a link for the recipient whose values were sealed in it; undefined when it leads nowhere on the web. */
export function targetOf(source: string, values: readonly string[] | undefined): string | undefined {
  let next = 0;
  const url = values === undefined ? source : source.replace(/\{\{[\w.-]*\}\}/g, () => values[next++] ?? '');
  return WEB.test(url) && URL.canParse(url) ? new URL(url).href : undefined;
}

/** Right before the end of the body, where it pushes nothing aside. */
function withPixel(html: string, url: string): string {
  const pixel = `<img src="${url}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`;
  return addToBody(html, pixel);
}

function fromMarked(template: Template, html: string, variables: readonly Variable[]): Template {
  const statics: string[] = [];
  const used: Variable[] = [];
  let at = 0;
  for (const match of html.matchAll(MARK)) {
    const variable = variables[Number(match[1])];
    if (variable === undefined) continue;
    statics.push(html.slice(at, match.index));
    used.push(variable);
    at = match.index + match[0].length;
  }
  statics.push(html.slice(at));
  return { ...template, statics, variables: used };
}
