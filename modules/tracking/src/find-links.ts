/** The offsets of an `href` value in the HTML. */
export interface FoundLink {
  start: number;
  end: number;
}

/** Anything that can start outside a tag. Conditional comments for Outlook are parsed as markup, since it shows their links. */
const OPENING = /<!--(\[if[^>]*>)?|<(script|style|title|textarea)\b|<(a|area|v:[a-z]+)(?=[\s/])/gi;
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/y;

/** Attributes that opt a link out of tracking: ours and those of other email services. */
const OPT_OUT: Record<string, RegExp> = {
  'data-track': /^(off|false|no|0)$/i,
  clicktracking: /^off$/i,
  'data-pm-no-track': /^/,
  'ses:no-track': /^/,
  'mc:disable-tracking': /^/,
};

/** The links of a document in order, without those that opt out of tracking. */
export function findLinks(html: string): FoundLink[] {
  const links: FoundLink[] = [];
  OPENING.lastIndex = 0;
  for (let match = OPENING.exec(html); match !== null; match = OPENING.exec(html)) {
    const [opening, conditional, raw] = match;
    if (raw !== undefined) OPENING.lastIndex = endOf(html, new RegExp(`</${raw}`, 'gi'), OPENING.lastIndex);
    else if (!opening.startsWith('<!--')) OPENING.lastIndex = readTag(html, OPENING.lastIndex, links);
    else if (conditional === undefined) OPENING.lastIndex = endOf(html, /-->/g, match.index + 2);
  }
  return links;
}

function endOf(html: string, end: RegExp, from: number): number {
  end.lastIndex = from;
  return end.test(html) ? end.lastIndex : html.length;
}

/** Reads the attributes of a tag, adds its link to `links`, and returns the offset of its end. */
function readTag(html: string, from: number, links: FoundLink[]): number {
  let found: FoundLink | undefined;
  let isOptedOut = false;
  let at = from;
  while (at < html.length && html[at] !== '>') {
    ATTRIBUTE.lastIndex = at;
    const match = ATTRIBUTE.exec(html);
    if (match === null) {
      at++;
      continue;
    }
    at = ATTRIBUTE.lastIndex;
    const [whole, name = '', double, single, bare] = match;
    const value = double ?? single ?? bare;
    if (OPT_OUT[name.toLowerCase()]?.test(value ?? '') === true) isOptedOut = true;
    if (name.toLowerCase() !== 'href' || value === undefined || found !== undefined) continue;
    const end = match.index + whole.length - (bare === undefined ? 1 : 0);
    found = { start: end - value.length, end };
  }
  if (found !== undefined && !isOptedOut) links.push(found);
  return at;
}
