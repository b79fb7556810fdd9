import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from './caller.ts';
import { pool } from './db.ts';
import { invalid } from './errors.ts';
import { type IdPrefix, isId } from './ids.ts';

/** Arguments of a list in GraphQL; `/v1` calls them `limit` and `cursor`. */
export interface PageArgs {
  first?: number | null | undefined;
  after?: string | null | undefined;
}

/** One page of a list, newest first, as a Relay connection with its nodes. */
export interface Page<Row> {
  edges: { cursor: string; node: Row }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  /** Counts the whole list, up to `MAX_TOTAL`. Nothing is counted unless it is asked for. */
  totalCount: () => Promise<number>;
}

/** The types of a list, by name: for `t.connection(…, ...relayNames('Contact'))`. */
export const relayNames = (row: string) =>
  [
    { name: `${row}Connection`, description: 'A page of a list.' },
    { name: `${row}Edge`, description: 'A row of a list, with its cursor.' },
  ] as const;

/** How many rows a page has when nobody says, and at most (design: Lists). */
export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 1000;

/** How far a list is counted: a total of this much means "this many or more", so that no count reads millions of rows. */
export const MAX_TOTAL = 100_000;

/**
 * Reads one page by key. `read` is asked for `limit` rows whose id sorts before `before` (all when `undefined`), newest
 * first; it gets one more than the page holds, which tells whether there is a next one without counting.
 * `count` counts the whole list, no further than the limit that it is given.
 * @throws DomainError `validation_error` for a size out of range or a cursor that is not ours.
 */
export async function readPage<Row extends { id: string }>(
  prefix: IdPrefix,
  { first, after }: PageArgs,
  read: (page: { limit: number; before: string | undefined }) => Promise<Row[]>,
  count: (limit: number) => Promise<number>,
): Promise<Page<Row>> {
  const size = pageSize(first);
  const rows = await read({ limit: size + 1, before: after == null ? undefined : fromCursor(prefix, after) });
  const page = toPage(rows.slice(0, size), rows.length > size, after != null);
  return { ...page, totalCount: () => count(MAX_TOTAL) };
}

/** What Prisma's client offers for a table. Each table types its arguments differently, so the caller names the row. */
interface Table {
  findMany: (args: never) => PromiseLike<unknown[]>;
  count: (args: never) => PromiseLike<number>;
}

/** Reads one page of a table's rows that match `where`, newest first; `query` is what a GraphQL selection asks of them. */
export function readRows<Row extends { id: string }>(
  table: Table,
  prefix: IdPrefix,
  args: PageArgs,
  where: object,
  query: RowsQuery = {},
): Promise<Page<Row>> {
  const read = async ({ limit, before }: { limit: number; before: string | undefined }) => {
    const onPage = before === undefined ? where : { ...where, id: { lt: before } };
    return (await table.findMany({ ...query, where: onPage, orderBy: { id: 'desc' }, take: limit } as never)) as Row[];
  };
  return readPage(prefix, args, read, async (limit) => table.count({ where, take: limit } as never));
}

/**
 * Counts what a statement finds, up to a limit. `parameters` are the statement's; the limit is added to them.
 */
export async function countUpTo(limit: number, statement: string, parameters: readonly unknown[]): Promise<number> {
  const text = `SELECT count(*)::int AS count FROM (${statement} LIMIT $${parameters.length + 1}) AS found`;
  const { rows } = await pool.query<{ count: number }>(text, [...parameters, limit]);
  return rows[0]?.count ?? 0;
}

/** The size of a page, checked: 1 to 1000. */
export function pageSize(first: number | null | undefined): number {
  if (first == null) return DEFAULT_PAGE_SIZE;
  if (first < 1 || first > MAX_PAGE_SIZE)
    throw invalid({ field: 'first', message: `must be between 1 and ${MAX_PAGE_SIZE}` });
  return first;
}

/** The id that a cursor stands for. */
export function fromCursor(prefix: IdPrefix, cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!isId(prefix, id)) throw invalid({ field: 'after', message: 'is not a cursor that this list gave out' });
  return id;
}

export const toCursor = (id: string) => Buffer.from(id, 'latin1').toString('base64url');

function toPage<Row extends { id: string }>(
  rows: Row[],
  hasNextPage: boolean,
  hasPreviousPage: boolean,
): Omit<Page<Row>, 'totalCount'> {
  const edges = rows.map((node) => ({ cursor: toCursor(node.id), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage,
      hasPreviousPage,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

/**
 * What a GraphQL selection asks of a row: spread into a Prisma call it loads the nested rows in the same statement, and
 * no more columns than are needed. Typed as nothing, so that rows keep their type; rules that read a column of a row that
 * they load with one must not rely on it.
 */
export type RowsQuery = object;

/** Reads the selection under `nodes` and `edges { node }` of a connection. */
export function rowsQuery(context: Context, info: GraphQLResolveInfo): RowsQuery {
  return queryFromInfo({ context, info, paths: [['nodes'], ['edges', 'node']] });
}
