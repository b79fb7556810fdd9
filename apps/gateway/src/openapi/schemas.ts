import { isDeepStrictEqual } from 'node:util';

/** A JSON Schema 2020-12, as OpenAPI 3.1 has them. */
export type Schema = Record<string, unknown>;

export interface ObjectSchema extends Schema {
  type: 'object';
  properties: Record<string, Schema>;
  required: string[];
}

const NULL: Schema = { type: 'null' };

/** The named schemas of a document's `components`, in the order of first use. */
export class Components {
  readonly schemas: Record<string, Schema> = {};

  /** A reference to a schema by name; throws if the name belongs to a different schema. */
  named(name: string, schema: Schema): Schema {
    const known = this.schemas[name];
    if (known !== undefined && !isDeepStrictEqual(known, schema)) throw new Error(`Two schemas are named ${name}.`);
    this.schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The schema itself if this is a reference to it. */
  resolved(schema: Schema): Schema {
    const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
    return name === undefined ? schema : (this.schemas[name] ?? schema);
  }

  /**
   * A reference to a selection of a type. The first selection gets the type's name, one with only some of its members
   * `Summary`, one with additional members `Detail`; others get a number.
   */
  selected(type: string, schema: ObjectSchema): Schema {
    const first = (this.schemas[type]?.properties ?? {}) as Record<string, Schema>;
    const suffix = Object.keys(schema.properties).every((name) => name in first) ? 'Summary' : 'Detail';
    const names = [
      type,
      `${type}${suffix}`,
      ...Array.from({ length: 20 }, (_, index) => `${type}${suffix}${index + 2}`),
    ];
    const free = names.find(
      (name) => this.schemas[name] === undefined || isDeepStrictEqual(this.schemas[name], schema),
    );
    if (free === undefined) throw new Error(`Too many different selections of ${type} to name.`);
    return this.named(free, schema);
  }
}

/** The schema, or null. */
export function orNull(schema: Schema): Schema {
  if (Object.keys(schema).every((key) => key === 'description')) return schema;
  if (typeof schema.type === 'string' && schema.const === undefined) {
    return {
      ...schema,
      type: [schema.type, 'null'],
      ...(Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}),
    };
  }
  if (schema.type !== undefined && schema.const === undefined) return schema;
  // Extend an existing `anyOf`: many generators can't read nested ones.
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, NULL] };
  return { anyOf: [schema, NULL] };
}

/** A schema with a description for this place. */
export function withDescription<S extends Schema>(
  schema: S,
  description: string | null | undefined,
  deprecated?: string | null,
): S {
  return {
    ...schema,
    ...(description == null || description === '' ? {} : { description }),
    ...(deprecated == null ? {} : { deprecated: true }),
  };
}
