import { isAddress } from './address.ts';

/** The file's CSV dialect, detected from its first lines. */
export interface Dialect {
  separator: string;
  /** Characters to skip before the first record: Excel's `sep=;` line. */
  skip: number;
  /** The line of the first record, counted from 1. */
  line: number;
}

const SEPARATORS = [',', ';', '\t', '|'];

/**
 * Detects the dialect. The separator is the one given, the one in Excel's `sep=;` line, or the one that splits the
 * first line into most columns.
 */
export function dialectOf(start: string, given?: string): Dialect {
  const [named, separator] = /^sep=(.)(?:\r\n|\n|\r)/i.exec(start) ?? [];
  if (named !== undefined) return { separator: given ?? separator ?? ',', skip: named.length, line: 2 };
  const [, first = ''] = /^\s*([^\r\n]*)/.exec(start) ?? [];
  const header = first.replace(/"[^"]*"/g, '');
  const counts = SEPARATORS.map((each) => header.split(each).length);
  return { separator: given ?? SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ',', skip: 0, line: 1 };
}

/** What the first record says about the columns. */
export interface Header {
  /** One name per column, unique ignoring case: those of the file, `column 1` for one without a name, `Notes (column 8)` for one whose name is taken. */
  names: string[];
  /** Whether the first record is already a data row. */
  isRow: boolean;
}

/** Reads the first record; a file that starts with a data row has no column names. */
export function headerOf(values: readonly string[]): Header {
  const isRow = values.some(isAddress);
  return { names: uniqueNames(isRow ? values.map(() => '') : values), isRow };
}

/** A mapping refers to columns by name, so a name that two columns share would always mean the first one. */
function uniqueNames(names: readonly string[]): string[] {
  const used = new Set<string>();
  const keyOf = (name: string) => name.trim().normalize().toLowerCase();
  return names.map((name, column) => {
    const position = `column ${column + 1}`;
    let unique = name.trim() === '' ? position : name;
    while (used.has(keyOf(unique))) unique = `${unique.trim()} (${position})`;
    used.add(keyOf(unique));
    return unique;
  });
}

const EMAIL_COLUMN =
  /^(e[-_ ]?mail|mail|(e[-_ ]?)?mail[-_ ]?(address|adresse)?|correo( electrónico)?|courriel|indirizzo e[-_ ]?mail)$/i;

/** Finds the address column by its name, else by the values of sample rows; -1 if there is none. */
export function findEmailColumn({ names, isRow }: Header, sample: readonly (readonly string[])[]): number {
  const named = isRow ? -1 : names.findIndex((name) => EMAIL_COLUMN.test(name.trim()));
  if (named !== -1) return named;
  const width = Math.max(0, ...sample.map((values) => values.length));
  const counts = Array.from(
    { length: width },
    (_, column) => sample.filter((values) => isAddress(values[column] ?? '')).length,
  );
  const most = Math.max(0, ...counts);
  return most === 0 || most < sample.length / 2 ? -1 : counts.indexOf(most);
}

/** How many rows to sample to detect a column's content. */
export const ENOUGH_TO_TELL = 200;

const NAME_COLUMN = /^(full[-_ ]?|display[-_ ]?|contact[-_ ]?)?name$|^nombre$|^nome$|^nom$/i;
const GIVEN_NAME = /^(first|given)[-_ ]?name$|^vorname$|^prénom$/i;
const FAMILY_NAME = /^(last|family)[-_ ]?name$|^surname$|^nachname$|^apellidos?$|^cognome$/i;

/** The columns of names: the full name, or first and last name; empty if there are none. */
export function findNameColumns(names: readonly string[], emailColumn: number): number[] {
  const find = (pattern: RegExp) =>
    names.findIndex((name, column) => column !== emailColumn && pattern.test(name.trim()));
  const whole = find(NAME_COLUMN);
  return whole === -1 ? [find(GIVEN_NAME), find(FAMILY_NAME)].filter((column) => column !== -1) : [whole];
}
