/**
 * Ids in statements that change or lock rows of a partitioned table. Such a statement must choose partitions when it begins, by its parameters,
 * and not while it runs: see "Statements that lock rows" in docs/decisions/partitions.md. So it compares ids with those of other rows by
 * `hasId`, or pairs such as `(campaign_id, id) > (…)`, and names the partitions by `isIdWithin`.
 */

/** SQL of whether a row has the id of another one, which is not NULL. It chooses no partitions, and finds the row by index. */
export const hasId = (column: string, id: string): string => `${column} = ANY (array_append(NULL::text[], ${id}))`;

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

/** The limits of some ids. */
export function rangeOf(ids: readonly string[]): IdRange {
  let [lowest = '', highest = ''] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < lowest) lowest = id;
    if (id > highest) highest = id;
  }
  return { lowest, highest };
}
