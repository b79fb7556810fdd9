import { cleanLine } from '@postroom/errors';
import { SMTP_POLICY } from './policy.ts';

const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;
const SPACE = 0x20;
const { maxLines: MAX_LINES, maxLineBytes: MAX_LINE_BYTES, maxBytes: MAX_BYTES } = SMTP_POLICY.replies;

/**
 * Incremental parser for SMTP replies. In the common case (a whole line in one chunk) a reply allocates nothing: its text is
 * decoded on demand, which is possible only until the handler returns.
 */
export class ReplyReader {
  /** Code of the reply being handled. */
  code = 0;
  /** Text of the lines before the last one. */
  #earlier: string[] = [];
  /** Size of those lines. */
  #earlierBytes = 0;
  #partial: Buffer | undefined;
  #chunk: Buffer = Buffer.alloc(0);
  #textStart = 0;
  #textEnd = 0;
  #hasMore = false;
  /** The handler has not returned yet. */
  #isHandling = false;
  #stopped = false;
  readonly #onReply: (reply: ReplyReader) => void;

  constructor(onReply: (reply: ReplyReader) => void) {
    this.#onReply = onReply;
  }

  /** Whether there is buffered input that isn't a complete reply yet. */
  get midReply(): boolean {
    return this.#partial !== undefined || this.#earlier.length > 0;
  }

  /**
   * Whether more input had already arrived behind the reply being handled: answers to commands that were pipelined with its
   * own, or to none. A 421 doesn't count, because servers may send it at any time (RFC 5321 §3.8).
   */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Code and text of a reply that has no end: the last of its lines never arrived, or it is longer than the limits. */
  get unfinished(): { code: number; answer: string } | undefined {
    if (this.#isHandling) return undefined;
    if (this.#earlier.length > 0) return { code: this.code, answer: this.#answer(this.#earlier) };
    const line = this.#partial;
    if (line === undefined || line.length <= MAX_LINE_BYTES || !this.#readCode(line, 0, line.length)) return undefined;
    return { code: this.code, answer: this.#answer([this.#text()]) };
  }

  /** Emits no further replies. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Parses the first `length` bytes of a chunk, which the caller may reuse afterwards.
   * @returns false if the input is not SMTP.
   */
  push(input: Buffer, length: number): boolean {
    let chunk = input;
    let end = length;
    let unread = 0;
    if (this.#partial) {
      unread = this.#partial.length;
      chunk = Buffer.concat([this.#partial, input.subarray(0, length)]);
      end = chunk.length;
      this.#partial = undefined;
    }
    let start = 0;
    for (let at = chunk.indexOf(LF, unread); at !== -1 && at < end; at = chunk.indexOf(LF, start)) {
      this.#hasMore = at + 1 < end && chunk.toString('latin1', at + 1, Math.min(at + 4, end)) !== '421';
      if (!this.#line(chunk, start, at)) return false;
      if (this.#stopped) return true;
      start = at + 1;
    }
    this.#hasMore = false;
    if (start < end) this.#partial = Buffer.from(chunk.subarray(start, end));
    return end - start <= MAX_LINE_BYTES;
  }

  /** The reply as one line: its code and text, without the codes that multi-line replies repeat. */
  answer(): string {
    return this.#answer([...this.#earlier, this.#text()]);
  }

  /** The text of each line, without codes. */
  lines(): string[] {
    return [...this.#earlier, this.#text()];
  }

  #line(chunk: Buffer, start: number, lineFeed: number): boolean {
    const end = lineFeed > start && chunk[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed;
    if (!this.#readCode(chunk, start, end)) return false;
    if (end - start > 3 && chunk[start + 3] === DASH) {
      this.#earlierBytes += end - start;
      return this.#earlier.push(this.#text()) <= MAX_LINES && this.#earlierBytes <= MAX_BYTES;
    }
    this.#isHandling = true;
    this.#onReply(this);
    this.#isHandling = false;
    if (this.#earlier.length > 0) {
      this.#earlier = [];
      this.#earlierBytes = 0;
    }
    return true;
  }

  /** Reads the code of a line, and where its text is. @returns false if it is no line of a reply. */
  #readCode(chunk: Buffer, start: number, end: number): boolean {
    const code =
      end - start < 3 ? -1 : digit(chunk[start]!) * 100 + digit(chunk[start + 1]!) * 10 + digit(chunk[start + 2]!);
    const separator = end - start > 3 ? chunk[start + 3] : SPACE;
    if (!(code >= 200 && code < 600) || (separator !== SPACE && separator !== DASH)) return false;
    this.code = code;
    this.#chunk = chunk;
    this.#textStart = Math.min(start + 4, end);
    this.#textEnd = end;
    return true;
  }

  #text(): string {
    return this.#chunk.toString('utf8', this.#textStart, this.#textEnd);
  }

  #answer(lines: string[]): string {
    if (lines.length === 1) return cleanLine(`${this.code} ${lines[0]}`);
    const enhanced = /^\d\.\d{1,3}\.\d{1,3} /.exec(lines[0]!)?.[0] ?? '';
    const rest = lines.slice(1).map((line) => (line.startsWith(enhanced) ? line.slice(enhanced.length) : line));
    return cleanLine(`${this.code} ${[lines[0], ...rest].join(' ')}`);
  }
}

/** The value of a digit character. Anything else yields a large negative number, which puts the code out of range. */
function digit(character: number): number {
  return character >= 0x30 && character <= 0x39 ? character - 0x30 : -10_000;
}
