import { callerProject } from './caller.ts';
import { builder } from './builder.ts';
import type { IdPrefix } from './ids.ts';

/** Loads the row of an id in a project, or null when the project has none. */
type LoadNode = (projectId: string, id: string) => Promise<object | null>;

const loaders = new Map<string, { typename: string; load: LoadNode }>();

/** Anything with a global id. Ids say what they are by their prefix, so `node(id:)` needs no other hint. */
export const Node = builder.interfaceRef<{ id: string }>('Node').implement({
  description: 'Anything with a global id.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'A TypeID: a prefix that names the type, then a sortable UUID.' }),
  }),
  resolveType: (value) => loaders.get(value.id.slice(0, value.id.indexOf('_')))?.typename,
});

/** Makes `node(id:)` find rows of a type by the prefix of their ids. */
export function registerNode(prefix: IdPrefix, typename: string, load: LoadNode): void {
  loaders.set(prefix, { typename, load });
}

builder.queryField('node', (t) =>
  t.field({
    type: Node,
    nullable: true,
    description: 'Any row of the project by its id; null when there is none.',
    args: { id: t.arg.id({ required: true, description: 'The global id.' }) },
    resolve: async (_root, { id }, context) => {
      const loader = loaders.get(id.slice(0, id.indexOf('_')));
      if (loader === undefined) return null;
      return (await loader.load(callerProject(context), id)) as { id: string } | null;
    },
  }),
);
