/**
 * What a spreadsheet would run as a formula, and what was guarded against that before (OWASP: CSV injection). Full-width signs
 * are in it: spreadsheets of some languages read them as the plain ones. A value that
 * begins so gets a `'` in front, which spreadsheets take for "text"; reading takes it away again, so nothing is lost.
 */
const FORMULA = /^'*[=+\-@＝＋－＠\t\r\n]/;
const GUARDED = /^''*[=+\-@＝＋－＠\t\r\n]/;

/** A text that no spreadsheet runs. */
export const guard = (text: string) => (FORMULA.test(text) ? `'${text}` : text);

/** The text that was guarded. */
export const unguard = (text: string) => (GUARDED.test(text) ? text.slice(1) : text);

const NEEDS_QUOTES = /[",\r\n;\t]|^\s|\s$/;

/** One line of CSV, with its line break. */
export function csvLine(values: readonly string[]): string {
  return `${values.map((value) => (NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',')}\r\n`;
}
