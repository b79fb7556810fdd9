import { styleText } from 'node:util';

const terminal = process.stdout.isTTY;
const style = (format: Parameters<typeof styleText>[0]) => (text: string) => styleText(format, text);
export const bold = style('bold');
export const dim = style('dim');
export const green = style('green');
export const red = style('red');

export const count = (value: number) => value.toLocaleString('en-US');
/** `3 rows`, `1 row`. */
export const some = (value: number, noun: string) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
export const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;

/** Without a terminal, progress is an occasional line when something has changed. */
const LINE_EVERY_MS = 3_000;
let lastLineAt = 0;
let lastLine = '';
let shown = false;

const TITLE_WIDTH = 12;

/** A line about one step; the title has its own column and is optional. */
export function say(title: string, text: string): void {
  clearProgress();
  lastLineAt = Date.now();
  console.log(`${bold(title.padEnd(TITLE_WIDTH))}${text.replaceAll('\n', `\n${' '.repeat(TITLE_WIDTH)}`)}`);
}

export function fail(text: string): void {
  clearProgress();
  console.error(`${red('✗')} ${text}`);
}

/** Current progress, in a line that the next one replaces; with a bar if the share is known. */
export function progress(text: string, share?: number): void {
  if (terminal) {
    const line = share === undefined ? text : `${bar(share)} ${text}`;
    const width = (process.stdout.columns ?? 80) - TITLE_WIDTH - 1;
    process.stdout.write(`\r\x1b[2K${' '.repeat(TITLE_WIDTH)}${line.slice(0, width)}`);
    shown = true;
  } else if (Date.now() - lastLineAt > LINE_EVERY_MS && text !== lastLine) {
    lastLineAt = Date.now();
    lastLine = text;
    console.log(`${' '.repeat(TITLE_WIDTH)}${text}`);
  }
}

function clearProgress(): void {
  if (shown) process.stdout.write('\r\x1b[2K');
  shown = false;
}

const BAR_WIDTH = 24;
function bar(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
}

/** A table of names and values; a rule where a row is `undefined`. */
export function table(rows: readonly ([name: string, value: string] | undefined)[]): string {
  const nameWidth = Math.max(...rows.map((row) => row?.[0].length ?? 0));
  const valueWidth = Math.max(...rows.map((row) => row?.[1].length ?? 0));
  const rule = (left: string, middle: string, right: string) =>
    dim(left + '─'.repeat(nameWidth + 2) + middle + '─'.repeat(valueWidth + 2) + right);
  const lines = rows.map((row) =>
    row === undefined
      ? rule('├', '┼', '┤')
      : `${dim('│')} ${row[0].padEnd(nameWidth)} ${dim('│')} ${row[1].padStart(valueWidth)} ${dim('│')}`,
  );
  return [rule('┌', '┬', '┐'), ...lines, rule('└', '┴', '┘')].join('\n');
}
