export { clean, isAddress } from './address.ts';
export {
  type Dialect,
  dialectOf,
  ENOUGH_TO_TELL,
  findEmailColumn,
  findNameColumns,
  type Header,
  headerOf,
} from './dialect.ts';
export { EncodingDetector } from './encoding.ts';
export { keyFor, keyFrom, labelFor, RESERVED_KEYS, TypeGuess } from './fields.ts';
export { type CsvRecord, MAX_RECORD_LENGTH, RecordReader, toRow } from './records.ts';
export { csvLine, guard, unguard } from './write.ts';
