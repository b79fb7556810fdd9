/** The tables of all modules, from their `schema.prisma`. */
export interface Datamodel {
  /** Table → the module that owns it. */
  owners: Map<string, string>;
  /** Prisma delegate (`campaign`) → model. */
  models: Map<string, Model>;
}

interface Model {
  name: string;
  table: string;
  owner: string;
  /** Columns by Prisma field. */
  columns: Map<string, { column: string; type: string }>;
  /** Relation fields: the other model, and whether this side holds the foreign key. */
  relations: Map<string, { model: string; holdsKey: boolean }>;
}

/** Reads the datamodel. @param schemas `schema.prisma` by module. */
export function readDatamodel(schemas: ReadonlyMap<string, string>): Datamodel {
  const models = new Map<string, Model>();
  for (const [owner, text] of schemas) {
    for (const [, name = '', body = ''] of text.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)) {
      const model: Model = {
        name,
        owner,
        table: /@@map\("(\w+)"\)/.exec(body)?.[1] ?? name,
        columns: new Map(),
        relations: new Map(),
      };
      for (const [line, field = '', type = ''] of body.matchAll(/^ {2}(\w+) +(\w+)(?:\[\]|\?)?.*$/gm)) {
        const column = /@map\("(\w+)"\)/.exec(line)?.[1] ?? field;
        model.columns.set(field, { column, type });
        model.relations.set(field, { model: delegateOf(type), holdsKey: /@relation\([^)]*\bfields:/.test(line) });
      }
      models.set(delegateOf(name), model);
    }
  }
  for (const { columns, relations } of models.values())
    for (const [field, { model }] of relations) (models.has(model) ? columns : relations).delete(field);
  return { models, owners: new Map([...models.values()].map(({ table, owner }) => [table, owner])) };
}

const delegateOf = (model: string) => `${model.charAt(0).toLowerCase()}${model.slice(1)}`;
