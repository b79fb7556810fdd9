import { isDeepStrictEqual } from 'node:util';
import type { Components, Schema } from './schemas.ts';

interface Described {
  operationId: string;
  requestBody?: { description?: string; content: Schema } | undefined;
  responses: Record<string, Schema>;
}

type Content = Record<string, { schema: Schema }>;

/**
 * Names every object of a document that is nested in another schema, a body or a response. Generators name anonymous
 * objects after the first place they find them, so those names would change with unrelated edits.
 */
export function nameSchemas(operations: readonly Described[], components: Components): void {
  const names = new Names(components);
  for (const [name, schema] of Object.entries(components.schemas)) names.nameParts(name, schema);
  for (const { operationId, requestBody, responses } of operations) {
    for (const [mediaType, body] of Object.entries((requestBody?.content ?? {}) as Content)) {
      const kind = mediaType === 'multipart/form-data' ? 'Form' : 'Input';
      body.schema = names.named([pascal(operationId) + kind], body.schema, requestBody?.description);
    }
    for (const response of Object.values(responses)) {
      for (const body of Object.values((response.content ?? {}) as Content)) {
        const [best = '', ...others] = responseNames(operationId, body.schema);
        body.schema = names.named([best, ...others], body.schema, responseDescription(operationId, best));
      }
    }
  }
}

/**
 * Names for a response, best first. A response around one object is named after it: `ContactResponse`,
 * `ContactListResponse`. Others end in `Result`, because oapi-codegen itself generates a `SendCampaignResponse` for an
 * operation `sendCampaign`.
 */
function responseNames(operationId: string, { properties = {} }: { properties?: Record<string, Schema> }): string[] {
  const { data, ...others } = properties;
  const result = `${pascal(operationId)}Result`;
  if (isDeepStrictEqual(Object.keys(properties), ['deleted'])) return ['DeletedResponse', result];
  const list = data?.type === 'array';
  const item = nameOf((list ? data.items : data) as Schema | undefined);
  if (item === undefined) return [result];
  if (list) return [`${item}ListResponse`, result];
  return Object.keys(others).length > 0 ? [result] : [`${item}Response`, result];
}

function responseDescription(operationId: string, name: string): string {
  const [, item, kind] = /^(\w+?)(ListResponse|Response)$/.exec(name) ?? [];
  if (item === undefined) return `The response of \`${operationId}\`.`;
  if (item === 'Deleted') return 'Confirms a deletion.';
  return kind === 'Response' ? `Has a \`${item}\` in \`data\`.` : `Has a list of \`${item}\` in \`data\`.`;
}

const nameOf = (schema: Schema | undefined) =>
  typeof schema?.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;

class Names {
  readonly #components: Components;

  constructor(components: Components) {
    this.#components = components;
  }

  /**
   * A reference to the schema under the first name that is free or already refers to it; the schema itself if it is not
   * an object. It gets the description unless it has one.
   */
  named(names: readonly string[], schema: Schema, description?: string): Schema {
    const [own = ''] = names.slice(-1);
    if (schema.type !== 'object' && schema.allOf === undefined) return this.nameParts(own, schema);
    if (schema.type === 'object' && schema.properties === undefined) return schema;
    this.nameParts(own, schema);
    if (description !== undefined) schema.description ??= description;
    const free = names.find((name) => {
      const known = this.#components.schemas[name];
      return known === undefined || isDeepStrictEqual(known, schema);
    });
    return this.#components.named(free ?? own, schema);
  }

  /** Names the nested objects of a schema, in place. */
  nameParts(name: string, schema: Schema): Schema {
    const inside = (member: string) => [name.replace(/Response$/, '') + pascal(member)];
    const properties = (schema.properties ?? {}) as Record<string, Schema>;
    for (const [member, part] of Object.entries(properties)) {
      properties[member] = this.named(inside(member), part, `\`${member}\` of \`${name}\`.`);
    }
    if (isSchema(schema.items)) schema.items = this.named([singular(name)], schema.items, `An item of \`${name}\`.`);
    for (const kind of ['anyOf', 'oneOf']) {
      if (!Array.isArray(schema[kind])) continue;
      schema[kind] = (schema[kind] as Schema[]).map((part, index) =>
        this.named([index === 0 ? name : `${name}${index + 1}`], part),
      );
    }
    return schema;
  }
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;
const singular = (name: string) => name.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');

function pascal(name: string): string {
  return name.replace(/(?:^|[_-])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
