import { type DataReply, MAX_TOTAL, type SelectionPath, type Route } from '@postroom/platform';
import { getNamedType, type GraphQLSchema, isObjectType } from 'graphql';
import { operation } from '../rest/request.ts';
import { MAX_CURSOR_LENGTH } from './scalars.ts';
import { type Components, type Schema, withDescription } from './schemas.ts';
import { rootSelections, type Selection, SelectionSchemas, selections } from './selections.ts';

/** The schema of each status a route responds with, from its declared reply and what its document selects. */
export function replySchemas(schema: GraphQLSchema, route: Route, components: Components): Map<number, Schema> {
  const { reply } = route;
  const replies = new ReplySchemas(schema, route, components);
  if (reply.kind === 'deleted') return new Map([[200, bodyOf({ deleted: { type: 'boolean' } })]]);
  if (reply.kind === 'page') return new Map([[200, replies.page(reply.connection)]]);
  const body = replies.data(reply);
  return new Map([reply.status, ...(reply.createdIf === undefined ? [] : [201])].map((status) => [status, body]));
}

/** Descriptions of the members next to `data` (design: Lists), which GraphQL describes in its own terms. */
const ENVELOPE: Record<string, string> = {
  has_more: 'Whether there is a next page.',
  next_cursor: 'The `cursor` of the next page; null on the last page.',
  total: `The number of all results; ${MAX_TOTAL} means that many or more. Only present with \`total=true\`.`,
  deleted: 'Always true.',
};

/** The schema of a response. Its operation describes `data`: responses with the same `data` share a schema. */
function bodyOf(members: Record<string, Schema>, optional: readonly string[] = []): Schema {
  const properties = Object.entries(members).map(([name, { description, ...schema }]) => {
    const said = name === 'data' ? undefined : (ENVELOPE[name] ?? (description as string | undefined));
    return [name, withDescription(schema, said)];
  });
  const required = Object.keys(members).filter((name) => !optional.includes(name));
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

class ReplySchemas {
  readonly #schema: GraphQLSchema;
  readonly #route: Route;
  readonly #schemas: SelectionSchemas;

  constructor(schema: GraphQLSchema, route: Route, components: Components) {
    this.#schema = schema;
    this.#route = route;
    this.#schemas = new SelectionSchemas(schema, components);
  }

  data({ data, merged, beside = {}, omitNull }: DataReply): Schema {
    const schema = typeof data === 'string' ? this.#dataAt(data, omitNull) : this.#object(data);
    const whole = merged === undefined ? schema : { allOf: [schema, this.#object(merged)] };
    return bodyOf({ data: whole, ...this.#members(beside) });
  }

  page(connection: SelectionPath): Schema {
    const member = (path: string) => this.#member(`${connection}.${path}`);
    const total = this.#find(`${connection}.totalCount`);
    const members = {
      data: member('nodes'),
      has_more: member('pageInfo.hasNextPage'),
      next_cursor: { ...member('pageInfo.endCursor'), maxLength: MAX_CURSOR_LENGTH },
      ...(total === undefined ? {} : { total: this.#schemas.member(total) }),
    };
    return bodyOf(members, ['total']);
  }

  #dataAt(path: SelectionPath, omitNull: readonly string[] | undefined): Schema {
    const selection = this.#selection(path);
    return omitNull === undefined ? this.#schemas.member(selection) : this.#schemas.inPlace(selection, omitNull);
  }

  #object(members: Record<string, SelectionPath | { constant: string }>): Schema {
    return { type: 'object', properties: this.#members(members), required: Object.keys(members) };
  }

  #members(members: Record<string, SelectionPath | { constant: string }>): Record<string, Schema> {
    const schemas = Object.entries(members).map(([name, member]): [string, Schema] => [
      name,
      typeof member === 'string' ? this.#member(member) : { type: 'string', const: member.constant },
    ]);
    return Object.fromEntries(schemas);
  }

  #member(path: SelectionPath): Schema {
    return this.#schemas.member(this.#selection(path));
  }

  #selection(path: SelectionPath): Selection {
    const found = this.#find(path);
    if (found !== undefined) return found;
    throw new Error(`${this.#route.method} ${this.#route.path}: its document does not select ${path}.`);
  }

  #find(path: SelectionPath): Selection | undefined {
    let members = rootSelections(this.#schema, operation(this.#route));
    let found: Selection | undefined;
    for (const name of path.split('.')) {
      found = members.find(({ key }) => key === name);
      const type = found && getNamedType(found.field.type);
      members = isObjectType(type) ? selections(this.#schema, type, found?.selectionSets ?? []) : [];
    }
    return found;
  }
}
