import { type CheckedContact, checkContact, type FieldSchema } from '@postroom/contacts';
import type { FieldProblem } from '@postroom/platform';
import { SeenAddresses } from './addresses.ts';
import { clean, type CsvRecord, formProblem, unguard } from './csv/index.ts';
import type { Plan } from './plan.ts';

/** A problem with a row, and its line in the file. */
export interface RowError extends FieldProblem {
  line: number;
}

/** A row that is a valid contact. */
export interface RowContact extends CheckedContact {
  line: number;
}

/** Separates valid contacts from invalid rows and duplicates. If rows share an address, the first valid one wins. */
export class RowChecker {
  readonly #plan: Plan;
  readonly #schema: ReadonlyMap<string, FieldSchema>;
  readonly #seen: SeenAddresses;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#schema = new Map(plan.fields.map((field) => [field.key, field]));
    this.#seen = new SeenAddresses(plan.lines);
  }

  check(record: CsvRecord): { contact: RowContact } | { errors: RowError[]; isDuplicate?: boolean } {
    const { line } = record;
    const checked = record.values === undefined ? [inRow(record.problem)] : this.#contactOf(record.values);
    if (Array.isArray(checked)) return { errors: checked.map((problem) => ({ line, ...problem })) };
    const first = this.#seen.add(checked.key, line);
    if (first === undefined) return { contact: Object.assign(checked, { line }) };
    return { errors: [{ line, field: 'email', message: `is already in line ${first}` }], isDuplicate: true };
  }

  #contactOf(given: string[]): CheckedContact | FieldProblem[] {
    const { layout, emailColumn, nameColumns, fields } = this.#plan;
    const values = withoutBlankEnd(given, layout.width);
    const problem = formProblem(values, layout.width);
    if (problem !== undefined) return [inRow(problem)];
    const valueOf = (column: number) => unguard(clean(values[column] as string));
    const email = valueOf(emailColumn);
    const name = nameColumns
      .map(valueOf)
      .filter((part) => part !== '')
      .join(' ');
    const customFields: Record<string, string> = {};
    for (const { key, column } of fields) {
      const value = valueOf(column);
      if (value !== '') customFields[key] = value;
    }
    return checkContact({ email: email === '' ? null : email, name, customFields }, this.#schema);
  }
}

const inRow = (message: string): FieldProblem => ({ field: 'row', message });

/** Removes trailing blank values, because spreadsheets write separators after the last column. */
function withoutBlankEnd(values: string[], width: number): string[] {
  const isLonger = values.length > width && values.slice(width).every((value) => value.trim() === '');
  return isLonger ? values.slice(0, width) : values;
}
