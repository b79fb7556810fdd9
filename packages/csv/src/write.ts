/**
 * Matches values that a spreadsheet would run as a formula, and values already guarded (OWASP: CSV injection). Includes
 * full-width and small signs, which some locales treat as the plain ones. Guarded values get a `'` prefix, which spreadsheets
 * read as "text"; imports remove it, so nothing is lost.
 */
const FORMULA = /^'*[=+\-@＝＋－＠﹦﹢﹣﹫\t\r\n]/;
const GUARDED = /^''*[=+\-@＝＋－＠﹦﹢﹣﹫\t\r\n]/;

/** Guards a text against being run as a formula. */
export const guard = (text: string) => (FORMULA.test(text) ? `'${text}` : text);

/** Removes the guard from a text. */
export const unguard = (text: string) => (GUARDED.test(text) ? text.slice(1) : text);

const NEEDS_QUOTES = /[",\r\n;\t]|^\s|\s$/;

/** One line of CSV, including its line break. */
export function csvLine(values: readonly string[]): string {
  return `${values.map((value) => (NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',')}\r\n`;
}
