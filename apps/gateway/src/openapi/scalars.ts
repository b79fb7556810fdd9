import { MAX_EMAIL_LENGTH, MAX_ID_LENGTH } from '@postroom/platform';
import { type GraphQLLeafType, isEnumType } from 'graphql';
import { type Components, type Schema, withDescription } from './schemas.ts';

/**
 * The JSON schema declared with a GraphQL type or field, for what GraphQL can't express: `extensions: { jsonSchema:
 * {…} }`.
 */
export function declaredSchema(of: { extensions?: object | null | undefined }): Schema | undefined {
  return (of.extensions as { jsonSchema?: Schema } | undefined)?.jsonSchema;
}

const TEXT: Schema = { type: 'string' };

/** Cursors are ids in base64url, of 40 characters. */
export const MAX_CURSOR_LENGTH = 64;

const SCALARS: Record<string, Schema> = {
  String: TEXT,
  ID: { type: 'string', maxLength: MAX_ID_LENGTH },
  Boolean: { type: 'boolean' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number' },
  DateTime: { type: 'string', format: 'date-time' },
  EmailAddress: { ...TEXT, maxLength: MAX_EMAIL_LENGTH },
  JSON: {},
};

/** Maximum text length in requests unless a lower one is declared: the maximum size of a JSON body (spec: Limits). */
export const MAX_TEXT = 1_048_576;

/** Formats that apply only to requests. */
const REQUEST_SCALARS: Record<string, Schema> = {
  String: { ...TEXT, maxLength: MAX_TEXT },
  Int: { type: 'integer', format: 'int32', minimum: -2_147_483_647 },
  EmailAddress: { ...TEXT, format: 'email', maxLength: MAX_EMAIL_LENGTH },
};

/** The schema of a scalar or an enum. */
export function scalarSchema(type: GraphQLLeafType, direction: 'request' | 'response', components: Components): Schema {
  if (!isEnumType(type)) {
    // Addresses in responses may be international, which the format does not cover.
    const asked = direction === 'request' ? REQUEST_SCALARS[type.name] : undefined;
    const schema = asked ?? declaredSchema(type) ?? SCALARS[type.name];
    if (schema === undefined) throw new Error(`The scalar ${type.name} has no OpenAPI schema.`);
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
    withDescription(
      { type: 'string', enum: names, 'x-enum-varnames': names.map((name) => variable(type.name, name)) },
      description,
    ),
  );
}

/** Some languages have one namespace for all enum constants, such as Go: `EmailStatusQueued`. */
const variable = (type: string, value: string) =>
  type + value.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
