type Columns = Record<string, 'text' | 'json' | 'jsonb'>;

/** SQL that replaces the addresses inside columns of a table: `set` for SET, and `mentions` for WHERE to find the rows. */
interface Redaction {
  set: string;
  mentions: string;
}

/** Parameters: `redactionValues`, which begin with the project. */
export const redaction = (columns: Columns): Redaction => redactionBy(columns, { pattern: '$2', alias: '$3' });

/**
 * @param pattern SQL of the second, and `alias` of the third of `redactionValues`.
 * @param beginnings SQL of `likeBeginnings`, for many rows: most have none, and the pattern takes eight times as long.
 */
export function redactionBy(
  columns: Columns,
  { pattern, alias, beginnings }: { pattern: string; alias: string; beginnings?: string },
): Redaction {
  const names = Object.keys(columns);
  const replaced = (name: string) => `regexp_replace("${name}"::text, ${pattern}, ${alias}, 'gi')`;
  const mentioned = (name: string) =>
    `${beginnings === undefined ? '' : `"${name}"::text ILIKE ANY (${beginnings}) AND `}"${name}"::text ~* ${pattern}`;
  return {
    set: names.map((name) => `"${name}" = ${replaced(name)}::${columns[name]}`).join(', '),
    mentions: `(${names.map(mentioned).join(' OR ')})`,
  };
}

/** What a text is like that mentions one of the addresses: it contains what is before the @ sign. */
export const likeBeginnings = (spellings: readonly string[]): string[] =>
  spellings.map((spelling) => `%${(spelling.split('@')[0] ?? '').replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);

export const redactionValues = ({
  projectId,
  spellings,
  alias,
}: {
  projectId: string;
  /** The spellings of the person's addresses that stored text may contain, in lower case. */
  spellings: readonly string[];
  /** Replaces the addresses. */
  alias: string;
}): [projectId: string, pattern: string, alias: string] => [projectId, patternOf(spellings), alias];

/** Matches a whole address, also URL-encoded. Other addresses may start or end with the same characters. */
function patternOf(spellings: readonly string[]): string {
  const addresses = spellings.map((spelling) => {
    const [local = '', host = ''] = spelling.split('@').map((part) => part.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
    return `${local}(?:@|%40)${host}`;
  });
  return `(?<![\\w.+-])(?:${addresses.join('|')})(?![\\w-]|\\.\\w)`;
}

/**
 * A table of which a project may have more rows that mention a person than one transaction can search. An erasure searches it page by page.
 * A cursor is an array of texts, empty before the first page.
 */
export interface SearchedTable {
  /** Differs from that of every other one; stays the same from release to release. */
  name: string;
  table: string;
  /** The columns that may mention a person. */
  columns: Columns;
  /** SQL of the next rows of the project `$1` after the cursor `$2`, at most `$3`, in order: their `id` and their cursor, `after`. */
  page: string;
  /** SQL of whether the row `t` is of a page: of the project `$1`, with one of the ids `$2`, after the cursor `$3`, and up to the cursor `$4`. */
  isOfPage: string;
  /** The rows of a page, if they may be so large that fewer should be read in a statement. */
  pageSize?: number;
  /** If rows are deleted instead of changed: also those with the person's contact in this column. */
  deletedBy?: string;
}

/** SQL of a part of a cursor. @param lowest SQL of a value before all others. */
export const ofCursor = (cursor: string, position: 1 | 2, type = 'text', lowest = `''`): string =>
  `coalesce((${cursor}::text[])[${position}]::${type}, ${lowest})`;

/** SQL of a page of rows that have the project's id. @param where a further condition, as SQL. */
export const pageByProject = (
  table: string,
  { id = 'id', where = 'true' }: { id?: string; where?: string } = {},
): string =>
  `SELECT ${id} AS id, ARRAY[${id}] AS after FROM ${table}
    WHERE project_id = $1 AND ${id} > ${ofCursor('$2', 1)} AND ${where} ORDER BY ${id} LIMIT $3`;

/** SQL of a page of rows that belong to rows of the project, such as those of its campaigns. @param lowest SQL of an id before all others. */
export const pageByOwner = (
  { owners, owner, table, id }: { owners: string; owner: string; table: string; id: string },
  type?: string,
  lowest = `''`,
): string => `
  SELECT r.${id}, o.id AS owner, ARRAY[o.id, r.${id}::text] AS after
  FROM (SELECT id FROM ${owners} WHERE project_id = $1 AND id >= ${ofCursor('$2', 1)} ORDER BY id) AS o
  CROSS JOIN LATERAL (SELECT ${id} FROM ${table} WHERE ${owner} = o.id
      AND ${id} > CASE WHEN o.id = ${ofCursor('$2', 1)} THEN ${ofCursor('$2', 2, type, lowest)} ELSE ${lowest} END
    ORDER BY ${id} LIMIT $3) AS r
  ORDER BY o.id, r.${id} LIMIT $3`;

/** A table of which rows, or rows that its column `id` refers to, are paged. */
export const searchedByPage = (table: string, columns: Columns, page: string, id = 'id'): SearchedTable => ({
  name: table,
  table,
  columns,
  page,
  isOfPage: `t.${id} = ANY ($2)`,
});

/** A table whose rows have the project's id. Keys that customers choose, as `id`, are only unique in their project. */
export const searchedByProject = (table: string, columns: Columns, id = 'id'): SearchedTable => ({
  ...searchedByPage(table, columns, pageByProject(table, { id })),
  isOfPage: `t.project_id = $1 AND t.${id} = ANY ($2)`,
});
