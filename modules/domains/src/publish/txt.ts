/** Quotes a text as zone files and provider APIs do: strings of at most 255 bytes. */
export function quoteText(text: string): string {
  const strings = text.match(/.{1,255}/gs) ?? [''];
  return strings.map((string) => `"${string.replace(/["\\]/g, '\\$&')}"`).join(' ');
}

/** Joins quoted strings; unquoted text is returned as is. */
export function unquoteText(quoted: string): string {
  if (!quoted.trim().startsWith('"')) return quoted;
  // An unterminated string also matches, up to the end, so that matching stays linear.
  const strings = [...quoted.matchAll(/"((?:[^"\\]|\\.)*)("?)/gs)].filter(([, , close]) => close !== '');
  return strings.map(([, string = '']) => string.replace(/\\(\d{3}|.)/gs, unescape)).join('');
}

/** Decodes `\"` to a quotation mark and `\059` to the byte with that decimal number. */
const unescape = (_all: string, escaped: string) =>
  escaped.length === 3 ? String.fromCharCode(Number(escaped)) : escaped;
