import {
  clean,
  type CsvRecord,
  dialectOf,
  EncodingDetector,
  ENOUGH_TO_TELL,
  findEmailColumn,
  formProblem,
  type Header,
  headerOf,
  isAddress,
  RecordReader,
} from '@postroom/csv';

/** A row that can't be imported, and why. `line` is where it begins in the file, counted from 1. */
export interface Problem {
  line: number;
  message: string;
}

/** A well-formed row: one value per column, and an address. */
export interface Row {
  line: number;
  email: string;
  /** One per column, without surrounding space. */
  values: string[];
}

export interface CsvFile {
  encoding: string;
  delimiter: string;
  /** The column names as in the file. */
  header: string[];
  /** Index of the address column. */
  emailColumn: number;
  rows: Row[];
  problems: Problem[];
}

/** Why the whole file is unusable, as a sentence for its owner. */
export class UnusableFile extends Error {}

/**
 * Reads a CSV file of contacts with the server's import parser: the usual encodings and separators, quotes, and line breaks
 * inside quotes. A bad row is reported with its line and does not affect others.
 */
export function readCsv(bytes: Uint8Array): CsvFile {
  const detector = new EncodingDetector();
  detector.add(bytes);
  const encoding = detector.end();
  const text = new TextDecoder(encoding).decode(bytes);
  const { separator, skip, line } = dialectOf(text);
  const { header, records } = readRecords(text.slice(skip), separator, line);
  const sample = records.flatMap(({ values }) => (values === undefined ? [] : [values])).slice(0, ENOUGH_TO_TELL);
  const emailColumn = findEmailColumn(header, sample);
  if (emailColumn === -1) {
    const names = header.names.map((name) => name.trim()).join(', ');
    throw new UnusableFile(`No column is named email or contains addresses. Columns found: ${names}.`);
  }
  return {
    encoding,
    delimiter: separator,
    header: header.names,
    emailColumn,
    ...assess(records, header.names.length, emailColumn),
  };
}

function readRecords(text: string, separator: string, line: number): { header: Header; records: CsvRecord[] } {
  const reader = new RecordReader(separator, line);
  const records: CsvRecord[] = [];
  let header: Header | undefined;
  for (const part of [reader.push(text), reader.end()]) {
    for (const record of part) {
      if (header === undefined) {
        header = headerIn(record);
        const width = header.names.length;
        reader.expectRows((values) => values.length === width && values.some(isAddress));
        if (!header.isRow) continue;
      }
      records.push(record);
    }
  }
  if (header === undefined) throw new UnusableFile('The file is empty.');
  return { header, records };
}

function headerIn({ line, values, problem }: CsvRecord): Header {
  if (values === undefined) throw new UnusableFile(`Line ${line} must be the header row: ${problem}`);
  return headerOf(values);
}
function assess(
  records: readonly CsvRecord[],
  columns: number,
  emailColumn: number,
): { rows: Row[]; problems: Problem[] } {
  const rows: Row[] = [];
  const problems: Problem[] = [];
  const firstLines = new Map<string, number>();
  for (const record of records) {
    const { line } = record;
    const values = record.values?.map(clean);
    const message = values === undefined ? record.problem : problemOf(values, columns, emailColumn, firstLines);
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

/** Addresses are compared without case. */
const keyOf = (email: string) => email.toLowerCase();

function problemOf(values: string[], columns: number, emailColumn: number, firstLines: Map<string, number>) {
  const problem = formProblem(values, columns);
  if (problem !== undefined) return problem;
  const email = values[emailColumn]!;
  if (email === '') return 'the address is missing';
  if (!isAddress(email)) return `"${shorten(email)}" is not an email address`;
  const first = firstLines.get(keyOf(email));
  return first === undefined ? undefined : `"${shorten(email)}" is already on line ${first}`;
}

const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}…` : text).replace(/\s+/g, ' ');
