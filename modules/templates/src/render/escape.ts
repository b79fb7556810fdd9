import { SAFE_SCHEMES } from './html-scanner.ts';
import type { Context } from './template.ts';

/* eslint-disable no-control-regex -- control characters are what this file takes away */
const CONTROLS_BUT_LINES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
const PLAIN = /^[ -~]*$/;
/** Printable ASCII that means nothing in HTML: nearly every value, and cheaper to test for than to replace in. */
const PLAIN_HTML = /^[ !#-%(-;=?-~]*$/;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Makes a value safe for the place it stands in. */
export const ESCAPES: Record<Context, (value: string) => string> = {
  subject: (value) => (PLAIN.test(value) ? value : value.toWellFormed().replace(CONTROLS, ' ')),
  text: (value) => (PLAIN.test(value) ? value : value.toWellFormed().replace(CONTROLS_BUT_LINES, '')),
  html: escapeHtml,
  css: (value) => value.replace(/[^A-Za-z0-9 #%.,_-]/g, ''),
  url: (value) => escapeHtml(wholeUrl(value)),
  'url-address': (value) => component(value).replace(/%40/g, '@').replace(/%2B/g, '+'),
  'url-path': (value) => component(value).replace(/%2F/g, '/'),
  'url-query': component,
  ready: (value) => value,
  nowhere: () => '',
};

/** Escapes text for HTML, inside and outside of quoted attribute values. */
export function escapeHtml(value: string): string {
  if (PLAIN_HTML.test(value)) return value;
  return value
    .toWellFormed()
    .replace(CONTROLS_BUT_LINES, '')
    .replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}

/** A part of a URL; it holds nothing that means something in HTML or in text either. */
function component(value: string): string {
  return encodeURIComponent(value.toWellFormed().replace(CONTROLS, ' ').trim()).replace(/'/g, '%27');
}

const WEB_URL = /^https?:\/\/[\w\-.~:/?#@!$&()*+,;=]*$/;

/** A URL as it is, or `#` when its scheme is not one that a mail may link to. */
function wholeUrl(value: string): string {
  if (WEB_URL.test(value)) return value;
  // What browsers drop from a URL is dropped before its scheme is looked at, or it could hide one.
  const url = value
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, '')
    .trim();
  const scheme = /^([^/?#:]*):/.exec(url)?.[1];
  if (scheme !== undefined && !SAFE_SCHEMES.has(scheme.toLowerCase())) return '#';
  return url.replace(/%(?![\da-f]{2})/gi, '%25').replace(/[^\w\-.~:/?#[\]@!$&'()*+,;=%]+/g, encodeURIComponent);
}
