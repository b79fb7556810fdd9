import type { CsvFile } from './csv.ts';

export type FieldType = 'text' | 'number' | 'boolean' | 'date' | 'select';

/** A custom field that a column of the file is imported into. */
export interface Field {
  /** Which column of the file. */
  column: number;
  key: string;
  label: string;
  type: FieldType;
  /** The values that occur, when the type is `select`. */
  options?: string[];
}

const NAME = /^(full[-_ ]?)?name$|^nombre$|^nome$|^nom$/i;
const FIRST_NAME = /^(first|given)[-_ ]?name$|^vorname$|^prénom$/i;
const LAST_NAME = /^(last|family)[-_ ]?name$|^surname$|^nachname$/i;

/** The columns that make people's names: one, or those of the first and the last name; none when there are no names. */
export function nameColumns({ header, emailColumn }: CsvFile): number[] {
  const find = (form: RegExp) => header.findIndex((name, column) => column !== emailColumn && form.test(name.trim()));
  const whole = find(NAME);
  return whole === -1 ? [find(FIRST_NAME), find(LAST_NAME)].filter((column) => column !== -1) : [whole];
}

/** A custom field for each column that is neither address nor name and holds anything; parts of names are fields too. */
export function fieldsOf(file: CsvFile): Field[] {
  const names = nameColumns(file);
  const keys = new Set<string>();
  return file.header.flatMap((label, column) => {
    if (column === file.emailColumn || (names.length === 1 && column === names[0])) return [];
    const values = file.rows.map((row) => row.values[column]!).filter((value) => value !== '');
    if (values.length === 0) return [];
    const key = keyFor(label, column, keys);
    keys.add(key);
    return [{ column, key, label: labelFor(label, column), ...typeOf(values) }];
  });
}

/** `signed_up` as people write it. */
function labelFor(name: string, column: number): string {
  const words = name.trim().replaceAll('_', ' ');
  return words === '' ? `Column ${column + 1}` : words[0]!.toUpperCase() + words.slice(1);
}

const MAX_KEY_LENGTH = 40;
/** Names that placeholders already have. */
const RESERVED_KEYS = new Set(['id', 'email', 'name', 'unsubscribe_url']);

/** A key of lower-case letters, digits and `_` that no other column has. */
function keyFor(label: string, column: number, taken: ReadonlySet<string>): string {
  const latin = label.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');
  const plain = latin
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+|_+$/g, '')
    .slice(0, MAX_KEY_LENGTH);
  const wanted = plain === '' ? `column_${column + 1}` : RESERVED_KEYS.has(plain) ? `csv_${plain}` : plain;
  return taken.has(wanted) ? `${wanted}_${column + 1}` : wanted;
}

const NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d+)?$/;
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const BOOLEAN = /^(true|false|yes|no)$/i;
/** A column is of a type when this share of its values is; the others are then reported as bad values. */
const MOST = 0.95;
const MAX_OPTIONS = 12;
const MAX_OPTION_LENGTH = 40;

const FORMS = { number: NUMBER, date: DATE, boolean: BOOLEAN };

function typeOf(values: string[]): Pick<Field, 'type' | 'options'> {
  const mostly = (form: RegExp) => values.filter((value) => form.test(value)).length >= values.length * MOST;
  // Postcodes and the like begin with zeros, which a number would lose.
  if (mostly(NUMBER) && !values.some((value) => /^0\d/.test(value))) return { type: 'number' };
  if (mostly(DATE)) return { type: 'date' };
  if (mostly(BOOLEAN)) return { type: 'boolean' };
  const options = [...new Set(values)];
  const fewAndRepeated = options.length <= MAX_OPTIONS && values.length >= options.length * 5;
  if (fewAndRepeated && options.every((option) => option.length <= MAX_OPTION_LENGTH)) {
    return { type: 'select', options: options.sort() };
  }
  return { type: 'text' };
}

/** Whether a field of that type takes at least half of the column's values, so that the others are the odd ones. */
export function fits(file: CsvFile, column: number, type: FieldType): boolean {
  if (type === 'text') return true;
  if (type === 'select') return false;
  const values = file.rows.map((row) => row.values[column]!).filter((value) => value !== '');
  return values.filter((value) => FORMS[type].test(value)).length >= values.length / 2;
}
