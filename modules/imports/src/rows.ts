import {
  type CheckedContact,
  type CheckedSuppression,
  checkSuppression,
  type FieldSchema,
  readContact,
  suppressionKey,
  type SuppressionReason,
} from '@postroom/contacts';
import type { FieldProblem } from '@postroom/platform';
import { SeenAddresses } from './addresses.ts';
import { clean, type CsvRecord, toRow, unguard } from '@postroom/csv';
import type { Import } from './imports.ts';
import type { Plan } from './plan.ts';
import { reasonNamed } from './reasons.ts';

/** A problem with a row, and its line in the file. */
export interface RowError extends FieldProblem {
  line: number;
  /** The invalid value of a custom field, or the unknown reason. */
  value?: string | undefined;
}

/** A row that is a valid contact. */
export interface RowContact extends CheckedContact {
  line: number;
}

/** The result of a row: a contact, perhaps without invalid values, a suppression, or nothing to write. */
export interface CheckedRow {
  contact?: RowContact;
  suppression?: CheckedSuppression;
  errors: RowError[];
  isDuplicate?: boolean;
}

/** Checks the rows of a file one after the other. */
export interface Checker {
  check(record: CsvRecord): CheckedRow;
}

/** The checker for the rows of an import. */
export const checkerFor = (plan: Plan, { kind, reason, skipInvalid }: Import): Checker =>
  kind === 'suppressions' ? new SuppressionChecker(plan, reason ?? 'manual') : new RowChecker(plan, { skipInvalid });

/** Separates suppressions from invalid rows and duplicates, which have the address and the reason of an earlier row. */
class SuppressionChecker implements Checker {
  readonly #plan: Plan;
  readonly #reason: SuppressionReason;
  readonly #seen: SeenAddresses;

  constructor(plan: Plan, reason: SuppressionReason) {
    this.#plan = plan;
    this.#reason = reason;
    this.#seen = new SeenAddresses(plan.lines);
  }

  check(record: CsvRecord): CheckedRow {
    const { layout, emailColumn, reasonColumn = -1 } = this.#plan;
    const { line, values, problem } = toRow(record, layout.width);
    if (values === undefined) return { errors: [{ line, field: 'row', message: problem }] };
    const valueOf = (column: number) => unguard(clean(values[column] ?? ''));
    const reason = valueOf(reasonColumn);
    const entry = { email: valueOf(emailColumn), reason: reasonNamed(reason) ?? reason };
    const checked = checkSuppression(entry, this.#reason);
    const { problem: invalid } = checked;
    if (invalid !== undefined)
      return { errors: [{ line, ...invalid, ...(invalid.field === 'reason' && { value: reason }) }] };
    const first = this.#seen.add(suppressionKey(checked.suppression), line);
    if (first === undefined) return { suppression: checked.suppression, errors: [] };
    return { errors: [{ line, field: 'email', message: `is already in line ${first}` }], isDuplicate: true };
  }
}

/** Line breaks in a cell, which no name has. */
const LINE_BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

/**
 * Separates contacts from invalid rows and duplicates. If rows share an address, the first one that is not invalid wins.
 * A row with an invalid name or custom field is a contact without that value, unless such rows are to be skipped.
 */
class RowChecker implements Checker {
  readonly #plan: Plan;
  readonly #schema: ReadonlyMap<string, FieldSchema>;
  readonly #seen: SeenAddresses;

  readonly #skipInvalid: boolean;

  constructor(plan: Plan, { skipInvalid }: { skipInvalid: boolean }) {
    this.#plan = plan;
    this.#skipInvalid = skipInvalid;
    this.#schema = new Map(plan.fields.map((field) => [field.key, field]));
    this.#seen = new SeenAddresses(plan.lines);
  }

  check(record: CsvRecord): CheckedRow {
    const { line, values, problem } = toRow(record, this.#plan.layout.width);
    const { contact, problems } = values === undefined ? unreadable(problem) : this.#contactOf(values);
    const errors = problems.map((problem) => ({ line, ...problem }));
    if (contact === undefined || (this.#skipInvalid && errors.length > 0)) return { errors };
    const first = this.#seen.add(contact.key, line);
    if (first === undefined) return { contact: Object.assign(contact, { line }), errors };
    return { errors: [{ line, field: 'email', message: `is already in line ${first}` }], isDuplicate: true };
  }

  #contactOf(values: string[]): { contact: CheckedContact | undefined; problems: Omit<RowError, 'line'>[] } {
    const { emailColumn, nameColumns, fields } = this.#plan;
    const valueOf = (column: number) => unguard(clean(values[column] as string));
    const email = valueOf(emailColumn);
    const name = nameColumns
      .map(valueOf)
      .filter((part) => part !== '')
      .join(' ')
      .replace(LINE_BREAKS, ' ');
    const customFields: Record<string, string> = {};
    for (const { key, type, column } of fields) {
      const cleaned = valueOf(column);
      // A text keeps invisible characters, which Thai and Khmer have between words.
      const value = type === 'text' && cleaned !== '' ? unguard((values[column] as string).trim()) : cleaned;
      if (value !== '') customFields[key] = value;
    }
    const read = readContact({ email: email === '' ? undefined : email, name, customFields }, this.#schema);
    if (read.problems.length === 0) return read;
    const valued = read.problems.map((problem) => ({ ...problem, value: customFields[keyIn(problem.field)] }));
    return { ...read, problems: valued };
  }
}

const unreadable = (message: string) => ({ contact: undefined, problems: [{ field: 'row', message }] });
const keyIn = (field: string) => field.replace(/^customFields\./, '');
