import { findNameColumns, type GuessedType, keyFor, labelFor, TypeGuess } from '@postroom/csv';
import type { CsvFile } from './csv.ts';

/** A custom field that a column of the file is imported into. */
export interface Field {
  /** Index of the column in the file. */
  column: number;
  key: string;
  label: string;
  type: GuessedType;
  /** The values that occur, when the type is `select`. */
  options?: string[];
}

/** The columns of people's names: one, or the first and the last name; empty without names. */
export const nameColumns = ({ header, emailColumn }: CsvFile): number[] => findNameColumns(header, emailColumn);

/** A custom field for each non-empty column that is neither address nor name; parts of names are fields too. */
export function fieldsOf(file: CsvFile): Field[] {
  const names = nameColumns(file);
  const keys = new Set<string>();
  return file.header.flatMap((label, column) => {
    if (column === file.emailColumn || (names.length === 1 && column === names[0])) return [];
    const guess = guessOf(file, column);
    if (guess.values === 0) return [];
    const key = keyFor(label, column, keys);
    keys.add(key);
    return [{ column, key, label: labelFor(label, column), ...guess.type }];
  });
}

function guessOf({ rows }: CsvFile, column: number): TypeGuess {
  const guess = new TypeGuess();
  for (const { values } of rows) guess.add(values[column]!);
  return guess;
}

/** Whether a field of this type accepts at least half of the column's values, so that the others are the exceptions. */
export const fits = (file: CsvFile, column: number, type: GuessedType): boolean => guessOf(file, column).fits(type);
