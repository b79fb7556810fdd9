import {
  clean,
  dialectOf,
  EncodingDetector,
  ENOUGH_TO_TELL,
  type Header,
  headerOf,
  RecordReader,
  unguard,
} from '@postroom/imports/csv';

/** How much of a file is looked at before it is sent, in bytes. */
const LOOKED_AT = 256 * 1024;

/** What the beginning of a file shows. */
export interface FilePreview {
  header: Header;
  /** Rows as the file has them. */
  rows: string[][];
  separator: string;
  encoding: string;
}

/** Reads the beginning of a file as the import itself will; undefined when there is no record in it. */
export async function readFilePreview(file: File): Promise<FilePreview | undefined> {
  const part = new Uint8Array(await file.slice(0, LOOKED_AT).arrayBuffer());
  const detector = new EncodingDetector();
  detector.add(part);
  const encoding = detector.end();
  const text = new TextDecoder(encoding).decode(part);
  const dialect = dialectOf(text);
  const reader = new RecordReader(dialect.separator, dialect.line);
  const records: string[][] = [];
  const isWhole = file.size <= LOOKED_AT;
  const body = text.slice(dialect.skip);
  for (const found of isWhole ? [reader.push(body), reader.end()] : [reader.push(body)]) {
    for (const { values } of found) if (values !== undefined && records.length <= ENOUGH_TO_TELL) records.push(values);
  }
  const [first, ...others] = records;
  if (first === undefined) return undefined;
  const header = headerOf(first);
  return { header, rows: header.isRow ? records : others, separator: dialect.separator, encoding };
}

/** The first values of a column that say something. */
export function samplesOf({ rows }: FilePreview, column: number, howMany = 3): string[] {
  const values = rows.map((row) => unguard(clean(row[column] ?? ''))).filter((value) => value !== '');
  return [...new Set(values)].slice(0, howMany);
}
