import { type CsvError, type Info, parse } from 'csv-parse/sync';

/** A row that can't be imported, and why. `line` is where it begins in the file, counted from 1. */
export interface Problem {
  line: number;
  message: string;
}

/** A row of the file whose form is right: as many values as there are columns, and an address. */
export interface Row {
  line: number;
  email: string;
  /** One for each column of the file, without surrounding space. */
  values: string[];
}

export interface CsvFile {
  encoding: string;
  delimiter: string;
  /** The names of the columns as the file has them. */
  header: string[];
  /** Which of the columns is the address. */
  emailColumn: number;
  rows: Row[];
  problems: Problem[];
}

/** What makes the whole file unusable, in a sentence for its owner. */
export class UnusableFile extends Error {}

/**
 * Reads a CSV file of contacts as people have them: any of the usual encodings and separators, quotes, line breaks
 * inside quotes. A bad row is reported with its line and spoils no other.
 */
export function readCsv(bytes: Uint8Array): CsvFile {
  const { text, encoding } = decode(bytes);
  const { body, firstLine, delimiter } = findDelimiter(text);
  const [first, ...records] = readRecords(body, delimiter, firstLine);
  if (first === undefined) throw new UnusableFile('The file is empty.');
  if (first.values === undefined)
    throw new UnusableFile(`Line ${first.line} should name the columns: ${first.message}`);
  const headless = first.values.some(isAddress);
  const header = headless ? first.values.map((_, index) => `column ${index + 1}`) : first.values;
  const data = headless ? [first, ...records] : records;
  const emailColumn = findEmailColumn(headless ? [] : header, data);
  const { rows, problems } = judge(data, header.length, emailColumn);
  return { encoding, delimiter, header, emailColumn, rows, problems };
}

const REPLACEMENT = '\uFFFD';

/** By byte order mark, else UTF-16 by its zero bytes, else UTF-8 if most of it is that, else Windows-1252. */
export function decode(bytes: Uint8Array): { text: string; encoding: string } {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return decodeAs('utf-8', bytes);
  if (a === 0xff && b === 0xfe) return decodeAs('utf-16le', bytes);
  if (a === 0xfe && b === 0xff) return decodeAs('utf-16be', bytes);
  const sample = bytes.subarray(0, 4096);
  const zeros = [0, 0];
  sample.forEach((byte, index) => byte === 0 && zeros[index % 2]!++);
  if (Math.max(...zeros) > sample.length / 5) return decodeAs(zeros[1]! > zeros[0]! ? 'utf-16le' : 'utf-16be', bytes);
  const utf8 = decodeAs('utf-8', bytes);
  const broken = utf8.text.split(REPLACEMENT).length - 1;
  if (broken === 0) return utf8;
  // A few broken bytes among many good characters are damage, to be reported by row; the other way round it is no UTF-8.
  const good = utf8.text.match(/[^\p{ASCII}\uFFFD]/gu)?.length ?? 0;
  return good > broken ? utf8 : decodeAs('windows-1252', bytes);
}

function decodeAs(encoding: string, bytes: Uint8Array) {
  return { text: new TextDecoder(encoding).decode(bytes), encoding };
}

const DELIMITERS = [',', ';', '\t', '|'];

/** The separator that cuts the first line into most columns; Excel's first line `sep=;` says it outright. */
function findDelimiter(text: string): { body: string; firstLine: number; delimiter: string } {
  const said = /^sep=(.)(\r\n|\n|\r)/i.exec(text);
  if (said !== null) return { body: text.slice(said[0].length), firstLine: 2, delimiter: said[1]! };
  const header = withoutQuoted(/^\s*([^\r\n]*)/.exec(text)![1]!);
  const counts = DELIMITERS.map((delimiter) => header.split(delimiter).length);
  return { body: text, firstLine: 1, delimiter: DELIMITERS[counts.indexOf(Math.max(...counts))]! };
}

const withoutQuoted = (line: string) => line.replace(/"[^"]*"/g, '');

/** Line breaks of every system, also mixed in one file. */
const LINE_BREAK = /\r\n|\n|\r/g;
/** A quote that is never closed swallows no more than this. */
const MAX_RECORD_BYTES = 100_000;

interface Located {
  line: number;
  /** Lines it spans, line breaks inside quotes included. */
  lines: number;
}
type Found = Located & ({ values: string[]; message?: undefined } | { values?: undefined; message: string });

/** The records of the text, each with its line; blank lines are left out. */
function readRecords(text: string, delimiter: string, firstLine: number): Found[] {
  const source = new Source(text, firstLine);
  const found: Found[] = [];
  while (!source.atEnd) readOn(source, delimiter, found);
  return found;
}

/** The text as csv-parse wants it, in bytes, and how far it has been read. */
class Source {
  readonly bytes: Buffer;
  offset = 0;
  line: number;

  constructor(text: string, firstLine: number) {
    this.bytes = Buffer.from(text);
    this.line = firstLine;
  }

  get atEnd() {
    return this.offset >= this.bytes.length;
  }

  /** Moves to `end` and says where the part in between lies: csv-parse's own count of lines is off after some breaks. */
  advance(end: number): Located {
    const part = this.bytes.toString('utf8', this.offset, end);
    const breaks = part.match(LINE_BREAK)?.length ?? 0;
    const located = { line: this.line, lines: Math.max(1, /[\r\n]$/.test(part) ? breaks : breaks + 1) };
    this.line += breaks;
    this.offset = end;
    return located;
  }
}

/** Reads until the end of the text or until a record that spans lines and is wrong, which may have swallowed good ones. */
function readOn(source: Source, delimiter: string, found: Found[]): void {
  const begin = source.offset;
  const failure = scan(source.bytes.subarray(begin), delimiter, (values, end) => {
    const start = source.offset;
    const located = source.advance(begin + end);
    if (located.lines > 1 && found.length > 0 && !isGood(values, found[0]!)) {
      return salvage(source, delimiter, found, { start, ...located, values });
    }
    if (values.length > 1 || values[0]!.trim() !== '') found.push({ ...located, values });
    return true;
  });
  if (failure === undefined || source.atEnd) return;
  const start = source.offset;
  const located = source.advance(Math.min(start + MAX_RECORD_BYTES, source.bytes.length));
  salvage(source, delimiter, found, { start, ...located, message: failure });
}

/** Whether it can be a row of this file. */
const isGood = (values: string[], header: Found) => values.length === header.values?.length && values.some(isAddress);

/**
 * Goes back to the first line inside a wrong record that is a good row by itself, and reports only what is before it:
 * a quote that was opened and never closed must not cost its neighbours. Returns false when it went back.
 */
function salvage(source: Source, delimiter: string, found: Found[], wrong: Found & { start: number }): boolean {
  const text = source.bytes.toString('utf8', wrong.start, source.offset);
  const starts = [...text.matchAll(LINE_BREAK)].map((match) => match.index + match[0].length);
  const good = starts.findIndex((start, index) => {
    let values: string[] = [];
    scan(Buffer.from(text.slice(start, starts[index + 1])), delimiter, (record) => (values = record).length > 0);
    return isGood(values, found[0]!);
  });
  const { start, ...record } = wrong;
  if (good === -1) {
    found.push(record);
    return true;
  }
  found.push({ line: wrong.line, lines: good + 1, message: NEVER_CLOSED });
  source.offset = start + Buffer.byteLength(text.slice(0, starts[good]));
  source.line = wrong.line + good + 1;
  return false;
}

const STOPPED = 'stopped';
const NEVER_CLOSED = 'a quote is opened and never closed';
const UNCLOSED_CODES = new Set(['CSV_QUOTE_NOT_CLOSED', 'CSV_MAX_RECORD_SIZE']);

/** Hands each record and the offset of its end to `take` until that returns false; returns what csv-parse objected to. */
function scan(bytes: Buffer, delimiter: string, take: (values: string[], end: number) => boolean): string | undefined {
  try {
    parse(bytes, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: MAX_RECORD_BYTES,
      on_record: (record: string[], context: Info) => {
        if (!take(record, context.bytes)) throw new Error(STOPPED);
        return null;
      },
    });
    return undefined;
  } catch (error) {
    const { code, message } = error as CsvError;
    if (message === STOPPED) return undefined;
    return UNCLOSED_CODES.has(code) ? NEVER_CLOSED : message;
  }
}

const EMAIL_COLUMN = /^(e[-_ ]?mail|mail|(e[-_ ]?)?mail[-_ ]?(address|adresse)?|correo( electrónico)?|courriel)$/i;
const ENOUGH_TO_TELL = 200;

/** By its name, else by its values. */
function findEmailColumn(header: string[], records: Found[]): number {
  const named = header.findIndex((name) => EMAIL_COLUMN.test(name.trim()));
  if (named !== -1) return named;
  const sample = records
    .flatMap((record) => (record.values === undefined ? [] : [record.values]))
    .slice(0, ENOUGH_TO_TELL);
  const width = Math.max(0, ...sample.map((values) => values.length));
  const counts = Array.from(
    { length: width },
    (_, column) => sample.filter((values) => isAddress(values[column] ?? '')).length,
  );
  const most = Math.max(0, ...counts);
  if (most < sample.length / 2 || most === 0) {
    throw new UnusableFile(
      `No column is called email or holds addresses; the columns are: ${header.map((name) => name.trim()).join(', ')}.`,
    );
  }
  return counts.indexOf(most);
}

function judge(records: Found[], columns: number, emailColumn: number): { rows: Row[]; problems: Problem[] } {
  const rows: Row[] = [];
  const problems: Problem[] = [];
  const firstLines = new Map<string, number>();
  for (const record of records) {
    const { line } = record;
    const values = record.values?.map((value) => clean(value));
    const message = values === undefined ? record.message! : problemOf(values, columns, emailColumn, firstLines);
    if (values === undefined || message !== undefined) {
      problems.push({ line, message: message! });
      continue;
    }
    const email = values[emailColumn]!;
    firstLines.set(keyOf(email), line);
    rows.push({ line, email, values });
  }
  return { rows, problems };
}

/** Surrounding space of every kind, and the invisible characters that come along when people copy addresses. */
const clean = (value: string) => value.replace(/[\u200B\u2060\uFEFF]/g, '').trim();
/** Addresses are the same whatever their case. */
const keyOf = (email: string) => email.toLowerCase();

function problemOf(values: string[], columns: number, emailColumn: number, firstLines: Map<string, number>) {
  if (values.length !== columns) return wrongCount(values.length, columns);
  const email = values[emailColumn]!;
  if (values.some((value) => value.includes(REPLACEMENT)))
    return 'some bytes are no valid text in the encoding of the file';
  if (values.some((value) => value.includes('\0'))) return 'a value holds a NUL character';
  if (email === '') return 'the address is missing';
  if (!isAddress(email)) return `"${shorten(email)}" is no email address`;
  const first = firstLines.get(keyOf(email));
  return first === undefined ? undefined : `"${shorten(email)}" is in line ${first} already`;
}

const wrongCount = (count: number, columns: number) =>
  `${count} ${count === 1 ? 'column' : 'columns'} instead of ${columns}`;
const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}…` : text).replace(/\s+/g, ' ');

const LOCAL_PART = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const LABEL = /^[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;

/** Whether it has the form of an address, international ones included. The API has the last word. */
export function isAddress(text: string): boolean {
  const address = clean(text);
  const at = address.lastIndexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  const labels = address.slice(at + 1).split('.');
  return (
    LOCAL_PART.test(local) &&
    local.length <= 64 &&
    address.length <= 254 &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label))
  );
}
