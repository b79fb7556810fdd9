/**
 * Ids in statements that change or lock rows of a partitioned table. Such a statement must choose partitions when it begins, by its parameters,
 * and not while it runs, and must not join by id: see "Statements that lock rows" in docs/decisions/partitions.md. It finds its rows by an array
 * of ids and reads values for them by `elementOf` or `valueById`, or looks each up by `rowWithId`. `isIdWithin` names the partitions.
 */

/**
 * A subquery of the row of a table with an id from another row, which is not NULL; for `LATERAL` or `EXISTS`. It chooses no partitions. OFFSET 0 makes
 * PostgreSQL look up each row by itself.
 * @param alias of the table, for `rest`: further conditions that begin with AND, and a lock.
 */
export const rowWithId = (table: string, alias: string, id: string, rest: string): string =>
  `(SELECT * FROM ${table} ${alias} WHERE ${alias}.id = ANY (array_append(NULL::text[], ${id})) ${rest} OFFSET 0)`;

/**
 * SQL of the value for a row: the element of the array `values` at the position that `id` has in the array `ids`, which is sorted and has it. A
 * statement finds its rows by `id = ANY (ids)`, and compares none with each other, as a join would.
 */
export const elementOf = (values: string, ids: string, id: string): string =>
  `(${values})[width_bucket(${id}, ${ids})]`;

/**
 * Selects a JSON object of the rows of a WITH query by their `id`, as `rows`. A statement that changes the rows with these ids finds them by
 * `id = ANY (ARRAY(SELECT id FROM …))` and reads what to write by `valueById`. In a join PostgreSQL compares every row with every other one
 * if it expects few, as in a partition that has no statistics yet.
 */
export const rowsById = (query: string): string =>
  `SELECT jsonb_object_agg(id, to_jsonb(${query}.*)) AS rows FROM ${query}`;

/** SQL of a column in the row of `id`, of the WITH query `byId` that is `rowsById`; NULL without such a row. */
export const valueById =
  (byId: string, id: string) =>
  (column: string, type = 'timestamptz'): string =>
    `((SELECT rows FROM ${byId}) -> ${id} ->> '${column}')::${type}`;

/**
 * SQL of whether the id of a row is from `lowest` to `highest`, two parameters. It only chooses partitions: written like this, it keeps
 * PostgreSQL from reading the whole range by id instead of what is looked for.
 */
export const isIdWithin = (column: string, lowest: string, highest: string): string =>
  `(${column} = ${lowest} OR ${column} > ${lowest} AND ${column} <= ${highest})`;

/** Limits of ids. */
export interface IdRange {
  lowest: string;
  highest: string;
}

/** No limits. Letters and digits follow each other in the same order in every collation. */
export const ALL_IDS: IdRange = { lowest: '', highest: 'zzzz' };
