const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  colon: ':',
  tab: '\t',
  newline: '\n',
};

/**
 * Decodes numeric entities, and the named ones that editors write into placeholders or that could hide a URL's scheme.
 * Other entities are left unchanged.
 */
export function decodeEntities(html: string): string {
  if (!html.includes('&')) return html;
  return html.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));?/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole;
    const codePoint = decimal === undefined ? parseInt(hex, 16) : Number(decimal);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : whole;
  });
}
