import { closeSync, copyFileSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs';

/** Larger logs are rotated to `.1`, so each program keeps at most twice this much. */
const MAX_LOG_BYTES = 20 * 1024 * 1024;
const POLL_MS = 300;
/** Maximum number of trailing bytes read to find a program's last error. */
const TAIL_BYTES = 64 * 1024;
const PINO_WARN = 40;

/** The current size of a log, so that later output can be read from there. */
export function logSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Programs write their own log files, so nothing is lost if the launcher is killed. This follows a log and passes
 * on what a user should see: warnings, errors, and unstructured lines such as stack traces.
 */
export function followLog(file: string, from: number, print: (line: string) => void): () => void {
  let offset = from;
  let rest = '';
  const read = () => {
    const { text, size } = readFrom(file, offset);
    offset = size;
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.map(formatLogLine)) if (line !== undefined) print(line);
    if (offset > MAX_LOG_BYTES) offset = rotate(file);
  };
  const timer = setInterval(read, POLL_MS);
  return () => {
    clearInterval(timer);
    read();
  };
}

/** The last error of a program that failed to start, on one line. */
export function lastLines(file: string, offset: number): string | undefined {
  const lines = readFrom(file, Math.max(offset, logSize(file) - TAIL_BYTES))
    .text.split('\n')
    .map(formatLogLine)
    .filter((line) => line !== undefined);
  return (lines.findLast((line) => /^\w*Error\b|\b(FATAL|error|could not)\b/.test(line)) ?? lines.at(-1))?.trim();
}

/** Formats a log line for the terminal; `undefined` if it belongs only in the file. */
export function formatLogLine(line: string): string | undefined {
  if (!line.startsWith('{')) return line.trim() === '' ? undefined : line;
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: number; msg?: string; err?: { message?: string } };
    if (typeof level !== 'number' || level < PINO_WARN) return undefined;
    const cause = err?.message !== undefined && !msg?.includes(err.message) ? ` (${err.message})` : '';
    return `${level > PINO_WARN ? 'error' : 'warning'}: ${msg ?? ''}${cause}`.replaceAll(/\s+/g, ' ');
  } catch {
    return line;
  }
}

function readFrom(file: string, offset: number): { text: string; size: number } {
  if (logSize(file) === 0) return { text: '', size: 0 };
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.max(0, size - offset));
    const length = readSync(descriptor, buffer, 0, buffer.length, offset);
    return { text: buffer.toString('utf8', 0, length), size: offset > size ? 0 : offset + length };
  } finally {
    closeSync(descriptor);
  }
}

/** Programs open logs in append mode, so truncation is safe while they run. */
function rotate(file: string): number {
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
  return 0;
}
