import { type GraphQLLeafType, isEnumType } from 'graphql';
import { type Components, described, type Schema } from './schemas.ts';

/** A schema may be stated beside a GraphQL type or field, where GraphQL can't say it: `extensions: { jsonSchema: {…} }`. */
export function stated(of: { extensions?: object | null | undefined }): Schema | undefined {
  return (of.extensions as { jsonSchema?: Schema } | undefined)?.jsonSchema;
}

const TEXT: Schema = { type: 'string' };

const SCALARS: Record<string, Schema> = {
  String: TEXT,
  ID: { type: 'string', maxLength: 64 },
  Boolean: { type: 'boolean' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number' },
  DateTime: { type: 'string', format: 'date-time' },
  EmailAddress: TEXT,
  JSON: {},
};

/** What a text of a request may have at most where nothing narrower is stated: a body of JSON has no more (spec: Limits). */
const MAX_TEXT = 1_048_576;

/** What only requests are held to. */
const REQUEST_SCALARS: Record<string, Schema> = {
  String: { ...TEXT, maxLength: MAX_TEXT },
  Int: { type: 'integer', format: 'int32', minimum: -2_147_483_647 },
  EmailAddress: { ...TEXT, format: 'email', maxLength: 254 },
};

/** The schema of a scalar or an enum. */
export function scalarSchema(type: GraphQLLeafType, direction: 'request' | 'response', components: Components): Schema {
  if (!isEnumType(type)) {
    // Addresses in answers may be international ones, which the format does not cover.
    const asked = direction === 'request' ? REQUEST_SCALARS[type.name] : undefined;
    const schema = asked ?? stated(type) ?? SCALARS[type.name];
    if (schema === undefined) throw new Error(`OpenAPI is not told what the scalar ${type.name} is.`);
    return schema;
  }
  const values = type.getValues();
  const names = values.map((value) => value.name);
  const lines = values
    .filter((value) => value.description != null)
    .map((value) => `- \`${value.name}\`: ${value.description}`);
  const description = [type.description ?? '', lines.join('\n')].filter((text) => text !== '').join('\n\n');
  return components.named(
    type.name,
    described(
      { type: 'string', enum: names, 'x-enum-varnames': names.map((name) => variable(type.name, name)) },
      description,
    ),
  );
}

/** Several languages have one namespace for the constants of all enums: Go's `EmailStatusQueued`. */
const variable = (type: string, value: string) =>
  type + value.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
