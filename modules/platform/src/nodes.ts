import type { AuditedRow, AuditedType } from './audit-changes.ts';
import { authenticated, type Context, type Permission, refusal } from './caller.ts';
import { builder } from './builder.ts';
import { sql } from './db.ts';
import type { Tx } from './transaction-observer.ts';
import { readLimited } from '@postroom/concurrency';
import { invalid } from '@postroom/errors';
import { type IdPrefix, isId } from './ids.ts';

type Row = { id: string };

interface NodeType {
  prefix: IdPrefix;
  typename: string;
  permission: Permission;
  /** Loads the rows with these ids that the caller may see, in any order. */
  load: (context: Context, ids: string[]) => Promise<readonly Row[]>;
}

const types = new Map<string, NodeType>();
const auditedTypes = new Map<string, AuditedType<never>>();

/** Maximum ids per `nodes(ids:)`. */
const MAX_NODES = 100;
/** Rows of a type that are read at once: some have a megabyte of text. */
const NODES_AT_ONCE = 30;

const prefixOf = (id: string) => id.slice(0, id.indexOf('_'));

/** Anything with a global id. The id's prefix names its type, so `node(id:)` needs no other hint. */
export const Node = builder.interfaceRef<Row>('Node').implement({
  description: 'Anything with a global id.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'A TypeID: a prefix that names the type, then a sortable UUID.' }),
  }),
  resolveType: ({ id }) => types.get(prefixOf(id))?.typename,
});

/**
 * Registers a type with `node(id:)` and `nodes(ids:)`. `load` must restrict rows to the caller's project;
 * `permission` is what the type's own queries require. `audited` says what the audit log records of a row.
 */
export function registerNode<Audited extends Row>(
  prefix: IdPrefix,
  typename: string,
  load: (context: Context, ids: string[]) => Promise<readonly Row[]>,
  permission: Permission = 'read',
  audited?: AuditedType<Audited>,
): void {
  types.set(prefix, { prefix, typename, load, permission });
  if (audited !== undefined) registerAudited(prefix, audited);
}

/** What the audit log records of the rows of a type that is no `Node`. */
export function registerAudited<Audited extends Row>(prefix: IdPrefix, audited: AuditedType<Audited>): void {
  auditedTypes.set(prefix, audited);
}

const namedRow = ({ id: _, ...values }: Row & { name?: string | null }): AuditedRow => ({
  name: values.name ?? null,
  values,
});

/** What the audit log records of the project's rows with these ids, by id. */
export async function auditedRows(tx: Tx, projectId: string, ids: readonly string[]): Promise<Map<string, AuditedRow>> {
  const found = new Map<string, AuditedRow>();
  for (const [prefix, own] of Map.groupBy(new Set(ids), prefixOf)) {
    const audited = auditedTypes.get(prefix);
    const valid = own.filter((id) => isId(prefix as IdPrefix, id));
    if (audited === undefined || valid.length === 0) continue;
    const rows = await sql<Row>(tx, audited.select, [valid, projectId]);
    const otherId = (row: Row) => audited.calledAs?.(row as never) ?? '';
    const others = audited.calledAs && (await auditedRows(tx, projectId, rows.map(otherId)));
    for (const row of rows) {
      const { name, values } = (audited.of ?? namedRow)(row as never);
      found.set(row.id, { name: others?.get(otherId(row))?.name ?? name, values });
    }
  }
  return found;
}

/**
 * Returns the row of each id, in order: null for an id that is malformed or names no visible row, and an error for
 * a type that the caller may not read. One load per type.
 */
async function loadNodes(context: Context, ids: readonly string[]): Promise<(Row | null | Error)[]> {
  const known = ids.flatMap((id) => types.get(prefixOf(id)) ?? []);
  const loaded = new Map<string, Row | Error>();
  const loads = [...new Set(known)].map(async (type) => {
    const own = ids.filter((id) => isId(type.prefix, id));
    if (own.length === 0) return;
    if (authenticated(context).may(type.permission)) {
      const wanted = [...new Set(own)];
      while (wanted.length > 0) {
        const some = wanted.splice(0, NODES_AT_ONCE);
        for (const row of await readLimited(async () => [...(await type.load(context, some))])) loaded.set(row.id, row);
      }
    } else {
      for (const id of own) loaded.set(id, refusal(context, type.permission));
    }
  });
  await Promise.all(loads);
  return ids.map((id) => loaded.get(id) ?? null);
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description: 'Any row of the project by its id; null if there is none.',
    args: { id: t.arg.id({ required: true, description: 'The global id.' }) },
    resolve: async (_root, { id }, context) => {
      const [row = null] = await loadNodes(context, [id]);
      if (row instanceof Error) throw row;
      return row;
    },
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: 'Rows of the project by their ids, in the order of the ids; null in place of those that do not exist.',
    complexity: ({ ids }) => ({ field: 1, multiplier: ids.length }),
    args: { ids: t.arg.idList({ required: true, description: `At most ${MAX_NODES} global ids.` }) },
    resolve: (_root, { ids }, context) => {
      if (ids.length > MAX_NODES) throw invalid({ field: 'ids', message: `must be at most ${MAX_NODES} ids` });
      // GraphQL reports an Error in a list as the error of that item.
      return loadNodes(context, ids) as Promise<(Row | null)[]>;
    },
  }),
}));
