/** What the audit log records of a row. */
export interface AuditedRow {
  /** What users call it. */
  name: string | null;
  /** The values that users change; never a secret. */
  values: Record<string, unknown>;
}

/** What the audit log records of the rows of a type. */
export interface AuditedType<Row> {
  /** Selects the rows of the project $2 with the ids $1: their `id`, and what `of` takes. */
  select: string;
  /** By default the name is the column `name`, and the values are all columns but the id. */
  of?: (row: Row) => AuditedRow;
  /** The id of the object by whose name users know a row that has none itself. */
  calledAs?: (row: Row) => string | null | undefined;
}

/** One value that an update changed. */
export interface AuditChange {
  /** Its field, such as `subject` or `customFields.plan`. */
  field: string;
  before: unknown;
  after: unknown;
}

/** At most this many changes are recorded of one update. */
export const MAX_CHANGES = 50;
/** A longer text is shortened, and a longer list or object recorded as shortened JSON, in characters. */
export const MAX_VALUE_LENGTH = 300;

/** The values that differ between two states of a row, bounded in size. Members of an object are compared one by one. */
export function changesBetween(before: Record<string, unknown>, after: Record<string, unknown>): AuditChange[] {
  const [from, to] = [flattenObjects(before), flattenObjects(after)];
  const fields = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return fields
    .filter((field) => JSON.stringify(from[field]) !== JSON.stringify(to[field]))
    .slice(0, MAX_CHANGES)
    .map((field) => ({ field, before: truncate(from[field]), after: truncate(to[field]) }));
}

/** Replaces each object by its members, as JSON has them: `customFields.plan`. Null and undefined are equal. */
function flattenObjects(values: Record<string, unknown>): Record<string, unknown> {
  const json = JSON.parse(JSON.stringify(values)) as Record<string, unknown>;
  const entries = Object.entries(json).flatMap(([field, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([member, inner]) => [`${field}.${member}`, inner] as const)
      : [[field, value] as const],
  );
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

function truncate(value: unknown): unknown {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= MAX_VALUE_LENGTH) return value;
  // PostgreSQL rejects JSON with half of a surrogate pair.
  return `${text.slice(0, MAX_VALUE_LENGTH).toWellFormed()}… (${text.length.toLocaleString('en')} characters)`;
}

/** The columns of these fields: `fromEmail` is `from_email AS "fromEmail"`. */
export const columnsOf = (names: readonly string[]): string =>
  names.map((name) => `${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} AS "${name}"`).join(', ');

/** The members of a row with these names. */
export function pick<Row extends object>(row: Row, ...names: (keyof Row & string)[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}
