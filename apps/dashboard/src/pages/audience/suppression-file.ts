import {
  clean,
  dialectOf,
  EncodingDetector,
  findEmailColumn,
  headerOf,
  RecordReader,
  unguard,
} from '@postroom/imports/csv';

/** An entry of a suppression list, with its line in the file. */
export interface Entry {
  email: string;
  reason: string | null;
  line: number;
}

const REASON_COLUMN = /^(reason|suppression[-_ ]?(reason|status)|status|type)$/i;

/** Reads the addresses and reasons of a CSV file; a message if it has no addresses. */
export async function readSuppressions(file: File, reason: string): Promise<Entry[] | string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const detector = new EncodingDetector();
  detector.add(bytes);
  const text = new TextDecoder(detector.end()).decode(bytes);
  const dialect = dialectOf(text);
  const reader = new RecordReader(dialect.separator, dialect.line);
  const records = [...reader.push(text.slice(dialect.skip)), ...reader.end()];
  const [first] = records;
  if (first?.values === undefined) return `${file.name} is empty.`;
  const header = headerOf(first.values);
  const rows = header.isRow ? records : records.slice(1);
  const sample = rows.slice(0, 200).flatMap(({ values }) => (values === undefined ? [] : [values]));
  const email = findEmailColumn(header, sample);
  if (email === -1) return `No column of ${file.name} is named email or contains addresses.`;
  const reasonColumn = header.names.findIndex((name) => REASON_COLUMN.test(name.trim()));
  return rows.map(({ values, line }) => {
    const given = clean(values?.[reasonColumn] ?? '');
    return { email: unguard(clean(values?.[email] ?? '')), reason: given === '' ? reason : given, line };
  });
}
