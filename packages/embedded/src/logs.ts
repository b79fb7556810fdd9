import { closeSync, copyFileSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs';

/** A log that has grown past this is moved to `.1`, so that two of these are all that a program can fill. */
const MAX_LOG_BYTES = 20 * 1024 * 1024;
const POLL_MS = 300;
/** Of what a program said last, no more than this is looked at. */
const TAIL_BYTES = 64 * 1024;
const PINO_WARN = 40;

/** How much of a log there is, to read later what came after. */
export function logSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Programs write to their log files themselves, so that they lose nothing when the launcher is killed; this reads along
 * and passes on what a person should see: warnings, errors, and what is no log line at all, such as a stack.
 */
export function followLog(file: string, from: number, print: (line: string) => void): () => void {
  let offset = from;
  let rest = '';
  const read = () => {
    const { text, size } = readFrom(file, offset);
    offset = size;
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.map(worthShowing)) if (line !== undefined) print(line);
    if (offset > MAX_LOG_BYTES) offset = rotate(file);
  };
  const timer = setInterval(read, POLL_MS);
  return () => {
    clearInterval(timer);
    read();
  };
}

/** What a program that did not start had to say: its last error, in one line. */
export function lastLines(file: string, offset: number): string | undefined {
  const lines = readFrom(file, Math.max(offset, logSize(file) - TAIL_BYTES))
    .text.split('\n')
    .map(worthShowing)
    .filter((line) => line !== undefined);
  return (lines.findLast((line) => /^\w*Error\b|\b(FATAL|error|could not)\b/.test(line)) ?? lines.at(-1))?.trim();
}

/** A line as people read it; `undefined` for one that is only of interest in the file. */
export function worthShowing(line: string): string | undefined {
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

/** Programs append, so a log can be emptied under them. */
function rotate(file: string): number {
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
  return 0;
}
