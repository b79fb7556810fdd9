import {
  clean,
  type CsvRecord,
  dialectOf,
  EncodingDetector,
  ENOUGH_TO_TELL,
  type Header,
  headerOf,
  RecordReader,
  toRow,
  unguard,
} from '@postroom/csv';

/** Bytes read for the preview. */
const LOOKED_AT = 256 * 1024;

/** A preview of a file. */
export interface FilePreview {
  header: Header;
  /** Raw rows. */
  rows: string[][];
  separator: string;
  encoding: string;
}

/** Parses the start of a file as the import will; undefined if it has no records. */
export async function readFilePreview(file: File): Promise<FilePreview | undefined> {
  const part = new Uint8Array(await file.slice(0, LOOKED_AT).arrayBuffer());
  const detector = new EncodingDetector();
  detector.add(part);
  const encoding = detector.end();
  const text = new TextDecoder(encoding).decode(part);
  const dialect = dialectOf(text);
  const reader = new RecordReader(dialect.separator, dialect.line);
  const records: CsvRecord[] = [];
  const isWhole = file.size <= LOOKED_AT;
  const body = text.slice(dialect.skip);
  for (const found of isWhole ? [reader.push(body), reader.end()] : [reader.push(body)]) {
    for (const record of found)
      if (record.values !== undefined && records.length <= ENOUGH_TO_TELL) records.push(record);
  }
  const [first, ...others] = records;
  if (first?.values === undefined) return undefined;
  const header = headerOf(first.values);
  // Rows that the import rejects say nothing about their columns.
  const rows = (header.isRow ? records : others).flatMap((record) => {
    const { values } = toRow(record, header.names.length);
    return values === undefined ? [] : [values];
  });
  return { header, rows, separator: dialect.separator, encoding };
}

const SAMPLE_LENGTH = 100;

/** The beginnings of the first three non-blank values of a column. */
export function samplesOf({ rows }: FilePreview, column: number): string[] {
  const values = rows.map((row) => unguard(clean(row[column] ?? ''))).filter((value) => value !== '');
  return [...new Set(values)]
    .slice(0, 3)
    .map((value) => (value.length > SAMPLE_LENGTH ? `${value.slice(0, SAMPLE_LENGTH)}…` : value));
}
