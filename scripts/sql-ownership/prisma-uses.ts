import type { Datamodel } from './datamodel.ts';
import type { Node, SourceFile, Use } from './source-file.ts';
import type { Resolver } from './resolver.ts';

const WRITE_CALL = /^(create|update|upsert|delete)(Many|ManyAndReturn)?$/;
const READ_CALL = /^(find(First|Unique)(OrThrow)?|findMany|count|aggregate|groupBy)$/;
/** Our functions that only read from the delegate they are given. */
const READERS = ['readRows'];
/** Members of a nested write; `connect`, `disconnect` and `set` write where the foreign key is. */
const NESTED_WRITES = [
  'create',
  'createMany',
  'connectOrCreate',
  'update',
  'updateMany',
  'upsert',
  'delete',
  'deleteMany',
];
const NESTED_LINKS = ['connect', 'disconnect', 'set', 'connectOrCreate'];
/** Names that a Prisma client has in our code. */
const CLIENT = /^(db|tx|client|prisma|transaction|within)$/;

export function prismaUses(source: SourceFile, resolver: Resolver, datamodel: Datamodel, owner: string): Use[] {
  const uses: Use[] = [];
  for (const node of source.nodes) {
    if (node.type === 'Property') uses.push(...nestedWrites(source, node, resolver, datamodel, owner));
    if (node.type !== 'MemberExpression') continue;
    const delegate = node.computed ? resolver.strings(source, node.property) : [String(node.property.name)];
    const isClient = node.object.type === 'Identifier' && CLIENT.test(node.object.name as string);
    const method = methodOf(source, node);
    const line = source.lineAt(node.start);
    if (delegate === undefined) {
      if (isClient && method !== undefined && WRITE_CALL.test(method))
        uses.push({ kind: 'unresolved', file: source.file, line, table: source.text.slice(node.start, node.end) });
      continue;
    }
    for (const name of delegate) {
      const model = datamodel.models.get(name);
      if (model === undefined) continue;
      if (method === undefined) {
        // Kept under another name, it could be written through that.
        const parent = source.parents.get(node);
        const isRead = parent?.type === 'CallExpression' && READERS.includes(String(parent.callee.name));
        if (isClient) uses.push({ kind: isRead ? 'read' : 'write', file: source.file, line, table: model.table });
      } else if (WRITE_CALL.test(method)) {
        uses.push({ kind: 'write', file: source.file, line, table: model.table });
      } else if (READ_CALL.test(method)) uses.push({ kind: 'read', file: source.file, line, table: model.table });
    }
  }
  return uses;
}

/** The method that is called on a delegate. */
function methodOf(source: SourceFile, delegate: Node): string | undefined {
  const member = source.parents.get(delegate);
  const isCalledOn = member?.type === 'MemberExpression' && member.object === delegate && !member.computed;
  return isCalledOn ? String(member.property.name) : undefined;
}

/**
 * The writes of a property that has a relation's name and a nested write as its value. The object it is in may reach Prisma from
 * anywhere, so every model with a relation of that name counts, unless one belongs to the module itself.
 */
function nestedWrites(
  source: SourceFile,
  property: Node,
  resolver: Resolver,
  { models }: Datamodel,
  owner: string,
): Use[] {
  const field = String(property.key.name ?? property.key.value);
  const relations = [...models.values()].flatMap(({ relations: of }) => of.get(field) ?? []);
  if (relations.length === 0) return [];
  const members = (resolver.values(source, property.value) ?? []).flatMap(({ node }) =>
    ((node.type === 'ObjectExpression' ? node.properties : []) as Node[]).map((each) => String(each.key?.name)),
  );
  const writes = members.some((member) => NESTED_WRITES.includes(member));
  const links = members.some((member) => NESTED_LINKS.includes(member));
  const written = relations.filter(({ holdsKey }) => writes || (links && !holdsKey));
  const targets = written.map(({ model }) => models.get(model)!);
  const own = targets.filter((target) => target.owner === owner);
  return [...new Set((own.length > 0 ? own : targets).map(({ table }) => table))].map((table) => ({
    kind: 'write',
    file: source.file,
    line: source.lineAt(property.start),
    table,
  }));
}
