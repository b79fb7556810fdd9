import { findEmailColumn, findNameColumns, keyFor, labelFor, TypeGuess, unguard, clean } from '@postroom/csv';
import { type CustomField, FIELD_TYPES } from '../audience/field-values.tsx';
import type { FilePreview } from './file-preview.ts';

/** A column's target: address, name part, existing field (`field:key`), new field or none. */
export type Target = 'email' | 'name' | 'new' | 'none' | `field:${string}`;

const EXPORTED = new Set(['id', 'source', 'suppression_status', 'created_at', 'updated_at']);

/** Infers targets as the import would; new fields are created only on request. */
export function guessTargets({ header, rows }: FilePreview, fields: CustomField[]): Target[] {
  const email = findEmailColumn(header, rows);
  const names = findNameColumns(header.names, email);
  const used = new Set<string>();
  return header.names.map((name, column): Target => {
    if (column === email) return 'email';
    if (names.includes(column)) return 'name';
    const field = fields.find(({ key, label }) => !used.has(key) && [key, label].some((each) => isSame(each, name)));
    const called = field ?? fields.find(({ key }) => !used.has(key) && key === keyFor(name, column, new Set()));
    if (called === undefined) return 'none';
    used.add(called.key);
    return `field:${called.key}`;
  });
}

const isSame = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

/** Whether an unmapped column qualifies for a new field. */
export const canBecomeField = (name: string) => !EXPORTED.has(name.trim());

function guessType({ rows }: FilePreview, column: number): TypeGuess {
  const guess = new TypeGuess();
  for (const row of rows) guess.add(unguard(clean(row[column] ?? '')));
  return guess;
}

/** Describes the new field for a column. */
export const newFieldOf = (preview: FilePreview, column: number): string =>
  `${labelFor(preview.header.names[column] ?? '', column)} (${FIELD_TYPES[guessType(preview, column).type.type].toLowerCase()})`;

/** Whether a new field for a column would hold its dates as text. */
export const hasDatesAsText = (preview: FilePreview, column: number): boolean =>
  guessType(preview, column).hasOtherDates;

/** Converts the mapping to `ImportColumnsInput`. */
export function columnsInput({ header: { names } }: FilePreview, targets: Target[], fields: CustomField[]) {
  const named = (wanted: Target) => names.filter((_name, column) => targets[column] === wanted);
  const keys = new Set(fields.map(({ key }) => key));
  const customFields: Record<string, string> = {};
  targets.forEach((target, column) => {
    const name = names[column] ?? '';
    if (target.startsWith('field:')) customFields[target.slice('field:'.length)] = name;
    if (target !== 'new') return;
    const key = keyFor(name, column, keys);
    keys.add(key);
    customFields[key] = name;
  });
  return { email: named('email')[0] ?? null, name: named('name'), customFields };
}

/** The mapping error; undefined if valid. */
export function targetsProblem(targets: Target[]): string | undefined {
  const emails = targets.filter((target) => target === 'email').length;
  if (emails === 0) return 'Choose the column that contains email addresses.';
  if (emails > 1) return 'Only one column can be the email address.';
  const taken = targets.filter((target) => target.startsWith('field:'));
  return new Set(taken).size < taken.length ? "Two columns can't map to the same field." : undefined;
}
