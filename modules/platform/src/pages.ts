import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from './caller.ts';
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
}

/** The names of a list's types, for `t.connection(…, ...relayNames('Contact'))`. */
export const relayNames = (row: string) => [{ name: `${row}Connection` }, { name: `${row}Edge` }] as const;

/** How many rows a page has when nobody says, and at most (design: Lists). */
export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 1000;

/**
 * Reads one page by key. `read` is asked for `limit` rows whose id sorts before `before` (all when `undefined`), newest
 * first; it gets one more than the page holds, which tells whether there is a next one without counting.
 * @throws DomainError `validation_error` for a size out of range or a cursor that is not ours.
 */
export async function readPage<Row extends { id: string }>(
  prefix: IdPrefix,
  { first, after }: PageArgs,
  read: (page: { limit: number; before: string | undefined }) => Promise<Row[]>,
): Promise<Page<Row>> {
  const size = pageSize(first);
  const rows = await read({ limit: size + 1, before: after == null ? undefined : fromCursor(prefix, after) });
  return toPage(rows.slice(0, size), rows.length > size, after != null);
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

function toPage<Row extends { id: string }>(rows: Row[], hasNextPage: boolean, hasPreviousPage: boolean): Page<Row> {
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
