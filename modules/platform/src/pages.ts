import { lengthOf, readLimited } from '@postroom/concurrency';
import { queryFromInfo } from '@pothos/plugin-prisma';
import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';
import type { Context } from './caller.ts';
import { pool } from './db.ts';
import { invalid, normalizeText } from '@postroom/errors';
import { type IdPrefix, isId } from './ids.ts';

/** Pagination arguments in GraphQL; `/v1` calls them `limit` and `cursor`. */
export interface PageArgs {
  first?: number | null | undefined;
  after?: string | null | undefined;
}

/** A row whose cursor is made when it is read, since most requests read only that of the last row. */
export class LazyEdge<Row> {
  readonly node: Row;
  readonly #cursorOf: (node: Row) => string;

  constructor(node: Row, cursorOf: (node: Row) => string) {
    this.node = node;
    this.#cursorOf = cursorOf;
  }

  get cursor(): string {
    return this.#cursorOf(this.node);
  }
}

/** One page of a list, newest first, as a Relay connection with `nodes`. */
export interface Page<Row> {
  edges: { readonly cursor: string; readonly node: Row }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  /** Counts the whole list, up to `MAX_TOTAL`. Evaluated only if requested. */
  totalCount: () => Promise<number>;
}

/** The connection and edge types of a list: `t.connection(…, ...relayNames('Contact'))`. */
export const relayNames = (row: string) =>
  [
    { name: `${row}Connection`, description: 'A page of a list.' },
    { name: `${row}Edge`, description: 'A row of a list, with its cursor.' },
  ] as const;

/** Default and maximum page size (design: Lists). */
export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 1000;

/** Rows of a list that are read at once; a page of more is read in parts. */
const ROWS_AT_ONCE = DEFAULT_PAGE_SIZE + 1;
/** The same for rows with long texts: templates and campaigns have up to a megabyte. */
const LONG_ROWS_AT_ONCE = 10;
/** The columns with such texts. */
const LONG_COLUMNS = ['body', 'definition', 'draft', 'html', 'source', 'text'];
/** A page that has about as many characters ends early, and the next one continues. */
const MAX_PAGE_LENGTH = 6_000_000;

/** Count limit, so that no count reads millions of rows: this total means "this many or more". */
export const MAX_TOTAL = 100_000;

/**
 * Reads one page by keyset. `read` returns up to `limit` rows whose id sorts before `before` (all if `undefined`),
 * newest first; we ask for one extra row to detect a next page. A page of large rows is shorter than asked for.
 * `count` counts the list up to the given limit.
 * @throws DomainError `validation_error` for a page size out of range or an invalid cursor.
 */
export async function readPage<Row extends { id: string }>(
  prefix: IdPrefix,
  { first, after }: PageArgs,
  read: (page: { limit: number; before: string | undefined }) => Promise<Row[]>,
  count: (limit: number) => Promise<number>,
  rowsAtOnce = ROWS_AT_ONCE,
): Promise<Page<Row>> {
  const given = after == null ? undefined : fromCursor(prefix, after);
  const readPart = (limit: number, last: Row | undefined) => read({ limit, before: last?.id ?? given });
  const { rows, size } = await readInParts<Row>(first, readPart, rowsAtOnce);
  return pageOf(edgesOf(rows), { size, after, totalCount: () => count(MAX_TOTAL) });
}

const edgesOf = <Row extends { id: string }>(rows: readonly Row[]) =>
  rows.map((node) => new LazyEdge(node, cursorOfRow));

/**
 * Like `readPage`, for a search that may stop before it has found a page: the cursor is then the id at which it stopped, and there is
 * a next page.
 */
export async function readSearchPage<Row extends { id: string }>(
  prefix: IdPrefix,
  { first, after }: PageArgs,
  read: (page: { limit: number; before: string | undefined }) => Promise<{ rows: Row[]; stoppedAt?: string }>,
  count: (limit: number) => Promise<number>,
): Promise<Page<Row>> {
  const size = pageSize(first);
  const before = after == null ? undefined : fromCursor(prefix, after);
  const { rows, stoppedAt } = await read({ limit: size + 1, before });
  const page = pageOf(edgesOf(rows), { size, after, totalCount: () => count(MAX_TOTAL) });
  if (stoppedAt === undefined) return page;
  return { ...page, pageInfo: { ...page.pageInfo, hasNextPage: true, endCursor: toCursor(stoppedAt) } };
}

/**
 * Reads the rows of a page, and one more to detect a next page. `read` returns up to `limit` rows after the last one so far; it is asked
 * for at most `rowsAtOnce`.
 * @returns the rows, and how many of them are on the page: fewer than asked for if they are large
 * @throws DomainError `validation_error` for a page size out of range.
 */
export async function readInParts<Row>(
  first: PageArgs['first'],
  read: (limit: number, last: Row | undefined) => Promise<Row[]>,
  rowsAtOnce = ROWS_AT_ONCE,
): Promise<{ rows: Row[]; size: number }> {
  const rows: Row[] = [];
  let size = pageSize(first);
  for (let length = 0; rows.length <= size;) {
    const limit = Math.min(size + 1 - rows.length, rowsAtOnce);
    const part = await read(limit, rows.at(-1));
    rows.push(...part);
    if (part.length < limit) break;
    if (rows.length <= size) length += lengthOf(part);
    if (length > MAX_PAGE_LENGTH) size = rows.length - 1;
  }
  return { rows, size };
}

/** The part of a Prisma table client that we use. Each table types its arguments differently, so the caller names the row. */
interface Table {
  findMany: (args: never) => PromiseLike<unknown[]>;
  count: (args: never) => PromiseLike<number>;
  /** The columns, all of which are read unless the query selects some. */
  fields: object;
}

/** Reads one page of a table's rows that match `where`, newest first; `query` comes from the GraphQL selection. */
export function readRows<Row extends { id: string }>(
  table: Table,
  prefix: IdPrefix,
  args: PageArgs,
  where: object,
  query: RowsQuery = {},
  rowsAtOnce?: number,
): Promise<Page<Row>> {
  const read = async ({ limit, before }: { limit: number; before: string | undefined }) => {
    const onPage = before === undefined ? where : { ...where, id: { lt: before } };
    const rows = () => table.findMany({ ...query, where: onPage, orderBy: { id: 'desc' }, take: limit } as never);
    return readLimited(async () => (await rows()) as Row[]);
  };
  const count = async (limit: number) => table.count({ where, take: limit } as never);
  const { select = table.fields } = query as { select?: object };
  const isLong = LONG_COLUMNS.some((column) => column in select);
  return readPage(prefix, args, read, count, rowsAtOnce ?? (isLong ? LONG_ROWS_AT_ONCE : ROWS_AT_ONCE));
}

/** Escapes text for a LIKE pattern; the caller adds `%`. */
export const escapeLike = (text: string) => text.replace(/[\\%_]/g, '\\$&');

/** An argument of lists whose rows have a name; see `nameContains`. */
export const NAME_PART = { description: 'Part of the name, case-insensitive.' } as const;

/** A condition on rows with a name: that it contains the text, ignoring case. */
export function nameContains(text: string | null | undefined): object {
  const part = normalizeText(text ?? '');
  return part === '' ? {} : { name: { contains: escapeLike(part), mode: 'insensitive' } };
}

/** Counts a statement's rows up to a limit, which is appended to `parameters`. */
export async function countUpTo(limit: number, statement: string, parameters: readonly unknown[]): Promise<number> {
  const text = `SELECT count(*)::int AS count FROM (${statement} LIMIT $${parameters.length + 1}) AS found`;
  const { rows } = await pool.query<{ count: number }>(text, [...parameters, limit]);
  return rows[0]?.count ?? 0;
}

/** Validates a page size: 1 to 1000. */
export function pageSize(first: number | null | undefined): number {
  if (first == null) return DEFAULT_PAGE_SIZE;
  if (first < 1 || first > MAX_PAGE_SIZE)
    throw invalid({ field: 'first', message: `must be between 1 and ${MAX_PAGE_SIZE}` });
  return first;
}

/** The id encoded in a cursor. */
export function fromCursor(prefix: IdPrefix, cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!isId(prefix, id)) throw invalid({ field: 'after', message: 'is not a cursor of this list' });
  return id;
}

export const toCursor = (id: string) => Buffer.from(id, 'latin1').toString('base64url');
const cursorOfRow = ({ id }: { id: string }) => toCursor(id);

/** A page of at most `size` of the rows that were read; one more row means that there is a next page. */
export function pageOf<Row>(
  read: Page<Row>['edges'],
  { size, after, totalCount }: { size: number; after: string | null | undefined; totalCount: Page<Row>['totalCount'] },
): Page<Row> {
  const edges = read.slice(0, size);
  return {
    edges,
    pageInfo: {
      hasNextPage: read.length > size,
      hasPreviousPage: after != null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount,
  };
}

/**
 * A Prisma query from a GraphQL selection: loads the selected nested rows in the same statement, and only needed
 * columns. It has no type, so rows keep theirs; rules must not rely on columns of rows loaded with it.
 */
export type RowsQuery = object;

/** Whether a document selects a field of this name anywhere below the one being resolved. */
export function selectsBelow({ fieldNodes, fragments }: GraphQLResolveInfo, name: string): boolean {
  // Fragments that spread each other twice have exponentially many paths.
  const visited = new Set<string>();
  const selects = (set: SelectionSetNode | undefined): boolean =>
    set?.selections.some((node) => {
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        if (visited.has(node.name.value)) return false;
        visited.add(node.name.value);
        return selects(fragments[node.name.value]?.selectionSet);
      }
      return (node.kind === Kind.FIELD && node.name.value === name) || selects(node.selectionSet);
    }) ?? false;
  return fieldNodes.some(({ selectionSet }) => selects(selectionSet));
}

/** Reads the selection under `nodes` and `edges { node }` of a connection. */
export function rowsQuery(context: Context, info: GraphQLResolveInfo): RowsQuery {
  return queryFromInfo({ context, info, paths: [['nodes'], ['edges', 'node']] });
}
