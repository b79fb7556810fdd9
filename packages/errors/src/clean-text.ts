/** Space, line breaks, what controls a terminal, and all that changes the direction of the text next to it. */
const NOT_IN_LINE = /[\s\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
/** What controls a terminal or reorders the text around it. Tabs and line breaks lay out a text, and marks are part of its language. */
const NOT_IN_TEXT = /(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
/** How much of a text is read, in characters; all of it could be space. */
const MAX_READ = 4_000;

/**
 * Makes one line of at most `maxLength` characters from text that others wrote, to be stored or shown between words of ours. Each run of
 * space, control characters and characters that change the direction of text becomes a space.
 */
export function cleanLine(text: string, maxLength = 500): string {
  const line = text.slice(0, MAX_READ).toWellFormed().replace(NOT_IN_LINE, ' ').trim();
  if (line.length <= maxLength) return line;
  const start = line
    .slice(0, maxLength - 1)
    .toWellFormed()
    .replace(/\ufffd$/, '');
  return `${start}…`;
}

/**
 * Makes text that others wrote fit to be shown on its own, with its lines. Each character that controls a terminal or reorders text becomes
 * U+FFFD, which shows that something was there.
 */
export const cleanText = (text: string): string => text.replace(NOT_IN_TEXT, '\uFFFD');
