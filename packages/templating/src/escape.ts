import { SAFE_SCHEMES } from './html-scanner.ts';
import type { Context } from './template.ts';

/* eslint-disable no-control-regex -- control characters are what this file takes away */
const CONTROLS_BUT_LINES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
const PLAIN = /^[ -~]*$/;
/** Printable ASCII without special meaning in HTML: covers nearly every value, and is faster to test than to escape. */
const PLAIN_HTML = /^[ !#-%(-;=?-~]*$/;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a value for its context. */
export const ESCAPES: Record<Context, (value: string) => string> = {
  subject: (value) => (PLAIN.test(value) ? value : value.toWellFormed().replace(CONTROLS, ' ')),
  text: (value) => (PLAIN.test(value) ? value : value.toWellFormed().replace(CONTROLS_BUT_LINES, '')),
  html: escapeHtml,
  css: (value) => value.replace(/[^A-Za-z0-9 #%.,_-]/g, ''),
  // Without what could end the URL, or a comment around it.
  'css-url': (value) => escapeHtml(wholeUrl(value).replace(/['()*]/g, hexOctet)),
  url: (value) => escapeHtml(wholeUrl(value)),
  'url-address': (value) => component(value).replace(/%40/g, '@').replace(/%2B/g, '+'),
  'url-path': (value) => component(value).replace(/%2F/g, '/'),
  'url-query': component,
  'url-lines': (value) =>
    value
      .split(/\r\n|[\r\n\u2028\u2029]/)
      .map(component)
      .join('%0D%0A'),
  // The filter `url_encode` writes a space as "+", which means a plus outside of form data.
  'url-encoded': (value) => value.replaceAll('+', '%20').replace(NOT_ENCODED, component),
  'plain-url': wholeUrl,
  ready: (value) => value,
  nowhere: () => '',
};

/** A subject as it is sent: line breaks and other control characters are spaces, and so is a run of several. */
export const subjectLine = (subject: string): string => {
  const line = subject.replace(CONTROLS, ' ');
  return line === subject ? subject : line.replace(/ {2,}/g, ' ').trim();
};

/** Escapes text for HTML content and quoted attribute values. */
export function escapeHtml(value: string): string {
  if (PLAIN_HTML.test(value)) return value;
  return value
    .toWellFormed()
    .replace(CONTROLS_BUT_LINES, '')
    .replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}

/** Encodes a part of a URL; the result is also safe in HTML and text. */
function component(value: string): string {
  return encodeURIComponent(value.toWellFormed().replace(CONTROLS, ' ').trim()).replace(/'/g, '%27');
}

/** Characters that need percent-encoding, and are not encoded yet. */
const NOT_ENCODED = /(?:(?!%[\da-f]{2})[^\w\-.~!*()])+/gi;

const hexOctet = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

const WEB_URL = /^https?:\/\/[\w\-.~:/?#@!$&()*+,;=]*$/;

/** A whole URL, or `#` if its scheme is not allowed in mail. */
function wholeUrl(value: string): string {
  if (WEB_URL.test(value)) return value;
  // Removes what browsers ignore in a URL before checking its scheme, because it could hide one.
  const url = value
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, '')
    .trim();
  const scheme = /^([^/?#:]*):/.exec(url)?.[1];
  if (scheme !== undefined && !SAFE_SCHEMES.has(scheme.toLowerCase())) return '#';
  return url.replace(/%(?![\da-f]{2})/gi, '%25').replace(/[^\w\-.~:/?#[\]@!$&'()*+,;=%]+/g, encodeURIComponent);
}
