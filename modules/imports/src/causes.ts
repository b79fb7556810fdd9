import { pool, sql, type Tx } from '@postroom/platform';
import type { Plan } from './plan.ts';
import type { RowError } from './rows.ts';

/** Row errors with the same cause. */
export interface Cause {
  /** `email`, `name`, `customFields.<key>`, or `row` for the whole row. */
  field: string;
  /** What is wrong, such as `is not an option`. */
  message: string;
  /** The value that is not an option, or the unknown reason; empty for other causes. */
  value: string;
  rows: number;
  /** The first line with this cause, counted from 1. */
  firstLine: number;
}

/** How many values of one field are told apart. Beyond them, it is probably the wrong column. */
const MAX_VALUES = 50;
/** Maximum number of causes shown, most frequent first. */
const MAX_CAUSES = 200;
const MAX_VALUE_LENGTH = 100;

const NOT_AN_OPTION = 'is not an option';
const DUPLICATE = 'is on an earlier line too';

/** Adds the row errors of a batch to the causes of the import. Causes are written in order, to prevent deadlocks. */
export async function countCauses(tx: Tx, importId: string, plan: Plan, errors: readonly RowError[]): Promise<void> {
  if (errors.length === 0) return;
  const known = await valuesOf(tx, importId);
  const counted = new Map<string, Cause>();
  for (const error of errors) {
    const cause = causeOf(error, plan, known);
    const key = JSON.stringify([cause.field, cause.message, cause.value]);
    const before = counted.get(key);
    if (before === undefined) counted.set(key, cause);
    else before.rows++;
  }
  const causes = [...counted].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cause]) => cause);
  await sql(
    tx,
    `INSERT INTO import_causes AS c (import_id, field, message, value, rows, first_line)
     SELECT $1, n.* FROM unnest($2::text[], $3::text[], $4::text[], $5::int[], $6::int[]) AS n(field, message, value, rows, first_line)
     ON CONFLICT (import_id, field, message, value)
     DO UPDATE SET rows = c.rows + excluded.rows, first_line = least(c.first_line, excluded.first_line)`,
    [
      importId,
      causes.map(({ field }) => field),
      causes.map(({ message }) => message),
      causes.map(({ value }) => value),
      causes.map(({ rows }) => rows),
      causes.map(({ firstLine }) => firstLine),
    ],
  );
}

/** The values already counted, by field. */
async function valuesOf(tx: Tx, importId: string): Promise<Map<string, Set<string>>> {
  const rows = await sql<{ field: string; values: string[] }>(
    tx,
    `SELECT field, array_agg(value) AS values FROM import_causes WHERE import_id = $1 AND value <> '' GROUP BY field`,
    [importId],
  );
  return new Map(rows.map(({ field, values }) => [field, new Set(values)]));
}

function causeOf({ line, field, message, value }: RowError, plan: Plan, known: Map<string, Set<string>>): Cause {
  const cause = { field, rows: 1, firstLine: line };
  if (value !== undefined && (field === 'reason' || isChoice(field, plan))) {
    return {
      ...cause,
      message: field === 'reason' ? message : NOT_AN_OPTION,
      value: keepValue(known, field, value.trim().slice(0, MAX_VALUE_LENGTH)),
    };
  }
  return { ...cause, message: message.startsWith('is already in line') ? DUPLICATE : message.slice(0, 200), value: '' };
}

const isChoice = (field: string, { fields }: Plan) =>
  fields.some(({ key, type }) => type === 'select' && field === `customFields.${key}`);

/** Returns a value to count the cause by; '' if its field already has too many values, or if it may be an address. */
function keepValue(known: Map<string, Set<string>>, field: string, value: string): string {
  const values = known.get(field) ?? new Set();
  known.set(field, values);
  if (value.includes('@') || (!values.has(value) && values.size >= MAX_VALUES)) return '';
  values.add(value);
  return value;
}

/** The causes of an import's row errors, the most frequent first. */
export async function listCauses(importIds: readonly string[]): Promise<Map<string, Cause[]>> {
  const { rows } = await pool.query<Cause & { importId: string }>(
    `SELECT c.* FROM unnest($1::text[]) AS i(id) CROSS JOIN LATERAL (
       SELECT import_id AS "importId", field, message, value, rows, first_line AS "firstLine" FROM import_causes
       WHERE import_id = i.id ORDER BY rows DESC, field, message, value LIMIT ${MAX_CAUSES}
     ) AS c`,
    [importIds],
  );
  return Map.groupBy(rows, ({ importId }) => importId);
}

/** What to do about a cause, as a sentence. */
export function fixFor({ field, message, value }: Cause, skipInvalid: boolean): string {
  if (message === DUPLICATE) return 'Nothing to do: the first line with an address is used.';
  if (message.includes('suppression list'))
    return 'They are not imported. Remove a suppression only if the person asked for it.';
  if (field === 'reason')
    return 'Correct the reasons in the file, or remove the column to use one reason for all rows.';
  if (field === 'email') return 'Correct the addresses in the file.';
  if (field === 'row') return 'Check the separators and quotes in these lines.';
  const otherwise = skipInvalid
    ? 'import these rows without the value'
    : 'leave it: they are imported without the value';
  if (value !== '') return `Add “${value}” to the options of the field, or ${otherwise}.`;
  if (message === NOT_AN_OPTION) return `Check that the right column is mapped to the field, or ${otherwise}.`;
  return `Correct the values in the file, or ${otherwise}.`;
}
