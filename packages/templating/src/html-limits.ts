import { Parser } from 'htmlparser2';

/** Maximum nesting of elements: long quoted threads have about a hundred levels. */
export const MAX_HTML_DEPTH = 200;
/** Maximum number of elements: a report with thousands of rows has twenty thousand. */
export const MAX_HTML_ELEMENTS = 50_000;

/**
 * Why HTML is too complex for mail; undefined if it is not. Mail clients don't display such mail, and it is expensive
 * to process.
 */
export function htmlProblem(html: string): string | undefined {
  if (countTags(html, MAX_HTML_DEPTH + 1) <= MAX_HTML_DEPTH) return undefined;
  let depth = 0;
  let elements = 0;
  const parser = new Parser(
    {
      onopentagname: () => {
        if (++depth > MAX_HTML_DEPTH)
          throw new TooComplex(`nests elements more than ${MAX_HTML_DEPTH} deep; close them, or nest fewer`);
        if (++elements > MAX_HTML_ELEMENTS) throw new TooComplex(`has more than ${MAX_HTML_ELEMENTS} elements`);
      },
      onclosetag: () => void depth--,
    },
    { decodeEntities: false },
  );
  try {
    parser.end(html);
  } catch (error) {
    if (error instanceof TooComplex) return error.message;
    throw error;
  }
  return undefined;
}

class TooComplex extends Error {}

/** Counts opening tags up to a limit: most mail has so few that no further check is needed. */
export function countTags(html: string, most: number): number {
  let count = 0;
  for (let at = html.indexOf('<'); at !== -1 && count < most; at = html.indexOf('<', at + 1)) {
    const next = html.charCodeAt(at + 1) | 0x20;
    if (next >= 0x61 && next <= 0x7a) count++;
  }
  return count;
}
