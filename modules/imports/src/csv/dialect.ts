import { isAddress } from './address.ts';

/** How a file is written, as its first lines tell. */
export interface Dialect {
  separator: string;
  /** Characters before the first record: Excel's line `sep=;`. */
  skip: number;
  /** The line of the first record, counted from 1. */
  line: number;
}

const SEPARATORS = [',', ';', '\t', '|'];

/** The separator that cuts the first line into most columns, unless it is given or Excel's first line `sep=;` names it. */
export function dialectOf(start: string, given?: string): Dialect {
  const [named, separator] = /^sep=(.)(?:\r\n|\n|\r)/i.exec(start) ?? [];
  if (named !== undefined) return { separator: given ?? separator ?? ',', skip: named.length, line: 2 };
  const [, first = ''] = /^\s*([^\r\n]*)/.exec(start) ?? [];
  const header = first.replace(/"[^"]*"/g, '');
  const counts = SEPARATORS.map((each) => header.split(each).length);
  return { separator: given ?? SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ',', skip: 0, line: 1 };
}

/** What the first record says of the columns. */
export interface Header {
  /** The names of the columns as the file has them, or `column 1` and so on. */
  names: string[];
  /** Whether the first record is a row already. */
  isRow: boolean;
}

/** Reads the first record: a file that begins with a row has no names for its columns. */
export function headerOf(values: readonly string[]): Header {
  const isRow = values.some(isAddress);
  return { names: isRow ? values.map((_value, index) => `column ${index + 1}`) : [...values], isRow };
}

const EMAIL_COLUMN =
  /^(e[-_ ]?mail|mail|(e[-_ ]?)?mail[-_ ]?(address|adresse)?|correo( electrónico)?|courriel|indirizzo e[-_ ]?mail)$/i;

/** Which column holds the addresses: by its name, else by the values of some rows; -1 when none does. */
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

/** How many rows tell what a column holds. */
export const ENOUGH_TO_TELL = 200;

const NAME_COLUMN = /^(full[-_ ]?|display[-_ ]?|contact[-_ ]?)?name$|^nombre$|^nome$|^nom$/i;
const GIVEN_NAME = /^(first|given)[-_ ]?name$|^vorname$|^prénom$/i;
const FAMILY_NAME = /^(last|family)[-_ ]?name$|^surname$|^nachname$|^apellidos?$|^cognome$/i;

/** The columns of people's names: the one of whole names, or those of first and last ones; none when there are none. */
export function findNameColumns(names: readonly string[], emailColumn: number): number[] {
  const find = (pattern: RegExp) =>
    names.findIndex((name, column) => column !== emailColumn && pattern.test(name.trim()));
  const whole = find(NAME_COLUMN);
  return whole === -1 ? [find(GIVEN_NAME), find(FAMILY_NAME)].filter((column) => column !== -1) : [whole];
}
