import type { Import } from './imports.ts';
import {
  type CsvRecord,
  type Dialect,
  dialectOf,
  EncodingDetector,
  ENOUGH_TO_TELL,
  type Header,
  headerOf,
  isAddress,
  RecordReader,
} from '@postroom/csv';
import { readParts, readTexts } from './parts.ts';

/** Why a whole file is unusable, as a sentence for the user. */
export class UnusableFile extends Error {}

/** How to read a file. */
export interface Layout extends Dialect {
  encoding: string;
  /** Number of columns. */
  width: number;
  /** Whether the first record is a data row instead of column names. */
  isHeadless: boolean;
}

/** Maximum number of lines in a file. */
const MAX_LINES = 2_000_000;

/** The first bytes of files that are not text, and what to do with such a file. */
const SIGNATURES: readonly [signature: string, problem: string][] = [
  ['PK\x03\x04', 'a spreadsheet, such as of Excel, or a ZIP archive. Save the sheet as CSV, or unpack the archive.'],
  ['\xd0\xcf\x11\xe0', 'an Excel workbook. Save the sheet as CSV.'],
  ['\x1f\x8b', 'compressed. Unpack it first.'],
  ['%PDF-', 'a PDF document. Export the data as CSV.'],
];

/** @throws UnusableFile when a file with these first bytes is not text. */
function assertText(first: Buffer): void {
  const start = first.subarray(0, 8).toString('latin1');
  const found = SIGNATURES.find(([signature]) => start.startsWith(signature));
  if (found !== undefined) throw new UnusableFile(`The file is no CSV file: it is ${found[1]}`);
}

/**
 * Reads the whole file once to detect its encoding and count its lines, which bounds the number of records.
 * @throws UnusableFile when it is not text or has too many lines.
 */
export async function inspectFile({ id, size, encoding }: Import): Promise<{ encoding: string; lines: number }> {
  const detector = encoding === null ? new EncodingDetector() : undefined;
  const breaks = { lf: 0, cr: 0 };
  let isFirst = true;
  for await (const part of readParts(id, size)) {
    if (isFirst) assertText(part);
    isFirst = false;
    detector?.add(part);
    breaks.lf += countOf(part, 10);
    breaks.cr += countOf(part, 13);
  }
  const lines = Math.max(breaks.lf, breaks.cr) + 1;
  if (lines > MAX_LINES) {
    const [found, most] = [lines, MAX_LINES].map((count) => count.toLocaleString('en'));
    throw new UnusableFile(`The file has ${found} lines, and an import takes ${most} at most. Split it into several.`);
  }
  return { encoding: encoding ?? detector?.end() ?? 'utf-8', lines };
}

function countOf(bytes: Buffer, byte: number): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count++;
  return count;
}

/** How much of a file is read to detect its dialect, in characters. */
const BEGINNING = 256 * 1024;

/**
 * Reads the beginning of a file: its dialect, column names and some rows.
 * @throws UnusableFile when it has no records, or its first one can't name the columns.
 */
export async function inspectBeginning(
  { id, size, separator }: Import,
  encoding: string,
): Promise<{ layout: Layout; header: Header; sample: string[][] }> {
  let text = '';
  let isWhole = true;
  for await (const piece of readTexts(id, size, encoding)) {
    text += piece;
    isWhole = text.length < BEGINNING;
    if (!isWhole) break;
  }
  const dialect = dialectOf(text, separator ?? undefined);
  const [first, ...records] = beginningOf(text.slice(dialect.skip), dialect, isWhole);
  if (first === undefined) throw new UnusableFile('The file is empty.');
  const unnamed = (problem: string) => new UnusableFile(`Line ${first.line} should name the columns: ${problem}.`);
  if (first.values === undefined) throw unnamed(first.problem);
  const header = headerOf(first.values);
  // PostgreSQL, which stores the names, has no such character.
  if (header.names.some((name) => name.includes('\0'))) throw unnamed('a name contains a NUL character');
  const rows = header.isRow ? [first, ...records] : records;
  return {
    layout: { ...dialect, encoding, width: header.names.length, isHeadless: header.isRow },
    header,
    sample: rows.flatMap(({ values }) => (values === undefined ? [] : [values])),
  };
}

function beginningOf(text: string, { separator, line }: Dialect, isWhole: boolean): CsvRecord[] {
  const reader = new RecordReader(separator, line);
  const found: CsvRecord[] = [];
  for (const part of isWhole ? [reader.push(text), reader.end()] : [reader.push(text)]) {
    for (const record of part) {
      if (found.length === 0) reader.expectRows(isRowOf(record.values?.length ?? 0));
      found.push(record);
      if (found.length > ENOUGH_TO_TELL) return found;
    }
  }
  return found;
}

const isRowOf = (width: number) => (values: string[]) => values.length === width && values.some(isAddress);

/** The rows of a file in chunks, including rows that can't be read. */
export async function* readRows(
  { id, size }: Pick<Import, 'id' | 'size'>,
  { encoding, separator, line, skip, width, isHeadless }: Layout,
): AsyncGenerator<Iterable<CsvRecord>> {
  const reader = new RecordReader(separator, line);
  let isFirst = true;
  function* rowsOf(records: Iterable<CsvRecord>): Generator<CsvRecord> {
    for (const record of records) {
      // The header may contain characters that no data row has.
      if (isFirst) reader.expectRows(isRowOf(width));
      if (!isFirst || isHeadless) yield record;
      isFirst = false;
    }
  }
  let left = skip;
  for await (const text of readTexts(id, size, encoding)) {
    yield rowsOf(reader.push(text.slice(left)));
    left = Math.max(0, left - text.length);
  }
  yield rowsOf(reader.end());
}
