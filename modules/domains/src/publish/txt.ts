/** A text as zone files and provider APIs write it: quoted strings of at most 255 bytes. */
export function quoteText(text: string): string {
  const strings = text.match(/.{1,255}/gs) ?? [''];
  return strings.map((string) => `"${string.replace(/["\\]/g, '\\$&')}"`).join(' ');
}

/** The text of quoted strings; what is not quoted is taken as it is. */
export function unquoteText(quoted: string): string {
  if (!quoted.trim().startsWith('"')) return quoted;
  // One that is not closed matches as well, up to the end, so that nothing is looked at twice.
  const strings = [...quoted.matchAll(/"((?:[^"\\]|\\.)*)("?)/gs)].filter(([, , close]) => close !== '');
  return strings.map(([, string = '']) => string.replace(/\\(\d{3}|.)/gs, unescape)).join('');
}

/** `\"` is a quotation mark, and `\059` the byte of that decimal number. */
const unescape = (_all: string, escaped: string) =>
  escaped.length === 3 ? String.fromCharCode(Number(escaped)) : escaped;
