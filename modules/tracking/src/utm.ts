import { markSlots, sourceOf, splitAtMarks, type Template } from '@postroom/templating';
import { findLinks } from './find-links.ts';
import { decodeUrl, readLink } from './read-link.ts';

/** The parameters by which web analytics attribute visits, by their name in a URL. */
export const UTM_NAMES = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;
export type Utm = Partial<Record<(typeof UTM_NAMES)[number], string | null>>;

/**
 * Adds parameters to the links of a message. A parameter that a link already has is kept. Unsubscribe links, links that are
 * not http(s), that opt out of tracking, that start with a placeholder or that contain tags stay as they are.
 */
export function addUtm(template: Template, utm: Utm): Template {
  const given = UTM_NAMES.flatMap((name) => (utm[name] ? [[name, encode(utm[name])] as const] : []));
  if (given.length === 0) return template;
  const marked = markSlots(template);
  let html = '';
  let done = 0;
  for (const { start, end } of findLinks(marked)) {
    const value = marked.slice(start, end);
    const link = readLink(value, template.slots);
    if (link === undefined || link.statics[0]!.trim() === '' || link.slots.some(({ kind }) => kind !== 'variable'))
      continue;
    const isQuoted = /["']/.test(marked[start - 1] ?? '');
    const longer = withParameters(value, given);
    html += marked.slice(done, start) + (isQuoted ? longer : `"${longer}"`);
    done = end;
  }
  const pieces = splitAtMarks(html + marked.slice(done), template.slots);
  return { ...template, ...pieces, source: sourceOf(pieces) };
}

const encode = (text: string) => encodeURIComponent(text.toWellFormed()).replaceAll("'", '%27');

/** Adds parameters to a URL in HTML, before its fragment. */
function withParameters(value: string, given: readonly (readonly [string, string])[]): string {
  const trimmed = value.trimEnd();
  const hash = fragmentOf(trimmed);
  const [url, fragment] = [trimmed.slice(0, hash), trimmed.slice(hash)];
  const [, query] = decodeUrl(url).split(/\?(.*)/s);
  const present = new Set(query?.split('&').map((part) => part.split('=', 1)[0]!.toLowerCase()));
  const added = given.filter(([name]) => !present.has(name)).map(([name, text]) => `${name}=${text}`);
  if (added.length === 0) return value;
  const separator = query === undefined ? '?' : query === '' || query.endsWith('&') ? '' : '&amp;';
  return url + separator + added.join('&amp;') + fragment;
}

/** Where the fragment of a URL in HTML starts: at a "#" that is no part of a character reference, or written as one. */
function fragmentOf(url: string): number {
  for (const match of url.matchAll(/&(?:#\d+|#x[\da-f]+);|#/gi)) if (decodeUrl(match[0]) === '#') return match.index;
  return url.length;
}
