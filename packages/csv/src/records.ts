import { REPLACEMENT } from './encoding.ts';

/** A record of a file, or why it could not be read. `line` is where it starts, counted from 1. */
export type CsvRecord =
  | { line: number; values: string[]; problem?: undefined }
  | { line: number; values?: undefined; problem: string };

/** Maximum record length in characters, which limits what an unclosed quote consumes; a longer record is a problem. */
export const MAX_RECORD_LENGTH = 100_000;

/** A record with one value for each column, or with the problem with its form, regardless of its content. */
export function toRow(record: CsvRecord, columns: number): CsvRecord {
  if (record.values === undefined) return record;
  const { line } = record;
  const values = fitToColumns(record.values, columns);
  const problem = formProblem(values, columns);
  return problem === undefined ? { line, values } : { line, problem };
}

/**
 * Spreadsheets write separators after the last column, or none before the last blank cells: blank values beyond the columns are
 * removed, and missing ones are blank. Other values beyond the columns stay, as a problem.
 */
function fitToColumns(values: string[], columns: number): string[] {
  if (values.length < columns) return [...values, ...Array<string>(columns - values.length).fill('')];
  return values.slice(columns).every((value) => value.trim() === '') ? values.slice(0, columns) : values;
}

function formProblem(values: readonly string[], columns: number): string | undefined {
  if (values.length !== columns) {
    return `${values.length} ${values.length === 1 ? 'column' : 'columns'} instead of ${columns}`;
  }
  let holdsNul = false;
  for (const value of values) {
    if (value.includes(REPLACEMENT)) return 'some bytes are not valid in the encoding of the file';
    holdsNul ||= value.includes('\0');
  }
  return holdsNul ? 'a value contains a NUL character' : undefined;
}

const NEVER_CLOSED = 'a quote is opened but never closed';
const TOO_LONG = `is longer than ${MAX_RECORD_LENGTH} characters`;
const LINE_BREAK = /\r\n|\n|\r/g;

/** The end and the values of a record. */
interface Parsed {
  values: string[];
  /** The offset of the line break that ends the record. */
  end: number;
}

interface Field {
  value: string;
  end: number;
}

const NOT_SEARCHED = { from: 0, at: -1 };
const NO_QUOTE = { ...NOT_SEARCHED, end: -1, lineEnd: -1 };

/** The record ends beyond the text read so far. */
const INCOMPLETE = Symbol('incomplete');
/** An unclosed quote, and how far the text was searched for its end. */
interface Unclosed {
  unclosed: number;
}

/**
 * Streams real-world CSV: optional quotes, all kinds of line breaks, line breaks inside quotes. A quote that is never
 * closed costs only its own record. Blank lines are skipped but counted.
 */
export class RecordReader {
  readonly #separator: string;
  #isRow: ((values: string[]) => boolean) | undefined;
  #text = '';
  #at = 0;
  #line: number;
  #isEnded = false;
  #isSkipping = false;
  /** The next offset of each character at or after `#at`; -1 if it must be searched for. */
  readonly #next = { '\n': -1, '\r': -1, '"': -1 };
  /** The first line break at or after an offset, as it was last searched for. */
  #break = NOT_SEARCHED;
  /** The first quote at or after an offset of a line that closes a value, as it was last searched for. */
  #closing = NO_QUOTE;

  constructor(separator: string, firstLine = 1) {
    this.#separator = separator;
    this.#line = firstLine;
  }

  /** Sets how to recognize a row, so that rows swallowed by an invalid multi-line record can be recovered. */
  expectRows(isRow: (values: string[]) => boolean): void {
    this.#isRow = isRow;
  }

  /** Yields the records that this part of the file completes. */
  *push(text: string): Generator<CsvRecord> {
    this.#text = this.#text.slice(this.#at) + text;
    this.#goTo(0);
    while (this.#at < this.#text.length) {
      const record = this.#read();
      if (record === INCOMPLETE) return;
      if (record !== undefined) yield record;
    }
  }

  /** Yields the remaining records. */
  *end(): Generator<CsvRecord> {
    this.#isEnded = true;
    yield* this.push('');
  }

  /** Reads one record; `undefined` after skipping a blank line or a part of an oversized line. */
  #read(): CsvRecord | typeof INCOMPLETE | undefined {
    const end = this.#lineEnd();
    if (this.#isSkipping || this.#isTooLong(end)) return this.#skip(end);
    if (end === Infinity) return INCOMPLETE;
    const line = this.#line;
    if (this.#find('"') > end) {
      const values = this.#text.slice(this.#at, end).split(this.#separator);
      this.#pass(end);
      return isBlank(values) ? undefined : { line, values };
    }
    const parsed = this.#parse(this.#at);
    if (parsed === INCOMPLETE || ('end' in parsed && this.#isHalfBreak(parsed.end))) return INCOMPLETE;
    if ('unclosed' in parsed) return this.#salvage(parsed.unclosed, { line, problem: NEVER_CLOSED });
    const { values } = parsed;
    if (this.#isTooLong(parsed.end)) return this.#salvage(parsed.end, { line, problem: TOO_LONG });
    if (parsed.end > end && this.#isRow?.(values) === false) return this.#salvage(parsed.end, { line, values });
    this.#pass(parsed.end);
    return isBlank(values) ? undefined : { line, values };
  }

  /** The end of the line; `Infinity` if it is not known yet. */
  #lineEnd(): number {
    const end = Math.min(this.#find('\n'), this.#find('\r'));
    if (end === Infinity) return this.#isEnded ? this.#text.length : Infinity;
    return this.#isHalfBreak(end) ? Infinity : end;
  }

  /** Whether the second half of a line break may be in the next part. */
  #isHalfBreak(at: number): boolean {
    return at === this.#text.length - 1 && this.#text[at] === '\r' && !this.#isEnded;
  }

  #isTooLong(end: number): boolean {
    return Math.min(end, this.#text.length) - this.#at > MAX_RECORD_LENGTH;
  }

  #find(what: '\n' | '\r' | '"'): number {
    if (this.#next[what] < this.#at) {
      const found = this.#text.indexOf(what, this.#at);
      this.#next[what] = found === -1 ? Infinity : found;
    }
    return this.#next[what];
  }

  /** Moves past the line break at `end`, counting the line breaks in between. */
  #pass(end: number): void {
    const after = this.#text.startsWith('\r\n', end) ? end + 2 : end + 1;
    this.#line += end === this.#lineEnd() ? 1 : lineBreaks(this.#text.slice(this.#at, after));
    this.#at = Math.min(after, this.#text.length);
  }

  #goTo(offset: number): void {
    this.#at = offset;
    this.#next['\n'] = this.#next['\r'] = this.#next['"'] = -1;
    this.#break = NOT_SEARCHED;
    this.#closing = NO_QUOTE;
  }

  /** Reports an oversized line, then skips what is available of it. */
  #skip(end: number): CsvRecord | typeof INCOMPLETE | undefined {
    if (!this.#isSkipping) {
      this.#isSkipping = true;
      return { line: this.#line, problem: TOO_LONG };
    }
    if (end === Infinity) {
      this.#text = this.#text.endsWith('\r') ? '\r' : '';
      this.#goTo(0);
      return INCOMPLETE;
    }
    this.#isSkipping = false;
    this.#pass(end);
    return undefined;
  }

  /** Reads a record that contains quotes. */
  #parse(start: number): Parsed | Unclosed | typeof INCOMPLETE {
    const values: string[] = [];
    for (let at = start; ; at++) {
      const field = this.#field(at);
      if (field === INCOMPLETE) {
        // The closing quote may be missing altogether.
        return this.#text.length - start > MAX_RECORD_LENGTH ? { unclosed: start + MAX_RECORD_LENGTH } : INCOMPLETE;
      }
      if ('unclosed' in field) return field;
      values.push(field.value);
      at = field.end;
      if (!this.#text.startsWith(this.#separator, at)) return { values, end: at };
    }
  }

  #field(start: number): Field | Unclosed | typeof INCOMPLETE {
    let quote = start;
    while (this.#text[quote] === ' ') quote++;
    return this.#text[quote] === '"' ? this.#quotedField(start, quote + 1) : this.#plainField(start);
  }

  /**
   * Reads a value from after its opening quote. A quote in the middle belongs to the value if the value is closed on
   * the same line, as in `"Ann "Bee" Smith",`; otherwise the opening quote is literal, as in `"Ann" Smith,`.
   */
  #quotedField(start: number, from: number): Field | Unclosed | typeof INCOMPLETE {
    let isDoubled = false;
    for (let at = from; ;) {
      const close = this.#text.indexOf('"', at);
      if (close === -1) return this.#isEnded ? { unclosed: this.#text.length } : INCOMPLETE;
      if (this.#text[close + 1] === '"') {
        isDoubled = true;
        at = close + 2;
        continue;
      }
      const end = this.#endAfter(close);
      if (end === INCOMPLETE) return INCOMPLETE;
      if (end === undefined)
        return this.#hasBreak(from, close) ? { unclosed: close } : this.#strayQuoted(start, from, close + 1);
      const value = this.#text.slice(from, close);
      return { value: isDoubled ? value.replaceAll('""', '"') : value, end };
    }
  }

  /** Reads a value with a quote in the middle, which ends before `after`. */
  #strayQuoted(start: number, from: number, after: number): Field | typeof INCOMPLETE {
    const lineEnd = this.#breakFrom(from);
    const closing = this.#closingFrom(after, lineEnd);
    if (closing === INCOMPLETE) return INCOMPLETE;
    if (closing.at === Infinity) return lineEnd === Infinity && !this.#isEnded ? INCOMPLETE : this.#plainField(start);
    return { value: this.#text.slice(from, closing.at).replaceAll('""', '"'), end: closing.end };
  }

  /**
   * The first quote at or after an offset of a line that closes a value, and where its field ends; `Infinity` if there is none. The
   * fields of a line share the search, or a line of many stray quotes would be searched for each of them.
   */
  #closingFrom(from: number, lineEnd: number): typeof NO_QUOTE | typeof INCOMPLETE {
    const known = this.#closing;
    if (known.lineEnd === lineEnd && known.from <= from && from <= known.at) return known;
    for (let at = from; ;) {
      const quote = this.#text.indexOf('"', at);
      if (quote === -1 || quote > lineEnd) return (this.#closing = { from, at: Infinity, end: Infinity, lineEnd });
      if (this.#text[quote + 1] === '"') {
        at = quote + 2;
        continue;
      }
      const end = this.#endAfter(quote);
      if (end === INCOMPLETE) return INCOMPLETE;
      if (end !== undefined) return (this.#closing = { from, at: quote, end, lineEnd });
      at = quote + 1;
    }
  }

  #hasBreak(from: number, to: number): boolean {
    return this.#breakFrom(from) < to;
  }

  /** The first line break at or after an offset; `Infinity` if there is none. Each part of the text is searched once. */
  #breakFrom(from: number): number {
    if (from < this.#break.from || from > this.#break.at) {
      LINE_END.lastIndex = from;
      this.#break = { from, at: LINE_END.exec(this.#text)?.index ?? Infinity };
    }
    return this.#break.at;
  }

  /** The end of the field whose closing quote is at `close`; `undefined` if that quote does not close it. */
  #endAfter(close: number): number | typeof INCOMPLETE | undefined {
    let end = close + 1;
    while (this.#text[end] === ' ') end++;
    if (end >= this.#text.length) return this.#isEnded ? end : INCOMPLETE;
    const next = this.#text[end];
    return next === '\n' || next === '\r' || this.#text.startsWith(this.#separator, end) ? end : undefined;
  }

  #plainField(start: number): Field | typeof INCOMPLETE {
    const first = this.#separator.charCodeAt(0);
    let end = start;
    for (; end < this.#text.length; end++) {
      const code = this.#text.charCodeAt(end);
      if (code === first || code === 10 || code === 13) break;
    }
    if (end === this.#text.length && !this.#isEnded) return INCOMPLETE;
    return { value: this.#text.slice(start, end), end };
  }

  /**
   * Rewinds to the first line inside an invalid record that is a row by itself, and reports only what precedes it.
   * Without such a line, the record is kept as it is.
   */
  #salvage(end: number, wrong: CsvRecord): CsvRecord {
    const stop = this.#endOfLine(end);
    let lines = 0;
    for (let start = this.#at; ;) {
      LINE_BREAK.lastIndex = start;
      const found = LINE_BREAK.exec(this.#text);
      if (found === null || found.index >= stop) break;
      start = found.index + found[0].length;
      lines++;
      if (!this.#isRow?.(this.#valuesOf(this.#text.slice(start, this.#endOfLine(start))))) continue;
      this.#line += lines;
      this.#at = start; // Keep the offsets found beyond it: searching again would rescan the rest of the text.
      return { line: wrong.line, problem: NEVER_CLOSED };
    }
    this.#pass(stop);
    return wrong;
  }

  #endOfLine(from: number): number {
    LINE_END.lastIndex = from;
    return LINE_END.exec(this.#text)?.index ?? this.#text.length;
  }

  /** The values of a single line. */
  #valuesOf(line: string): string[] {
    const [record] = new RecordReader(this.#separator).#whole(line);
    return record?.values ?? [];
  }

  #whole(text: string): CsvRecord[] {
    this.#isEnded = true;
    return [...this.push(text)];
  }
}

const LINE_END = /[\r\n]/g;
const isBlank = (values: string[]) => values.every((value) => value.trim() === '');
const lineBreaks = (text: string) => text.match(LINE_BREAK)?.length ?? 0;
