import {
  getNamedType,
  getNullableType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLNonNull,
  isLeafType,
  isListType,
  isNonNullType,
  isNullableType,
  isRequiredInputField,
} from 'graphql';
import type { Variable } from '../rest/request.ts';
import { rejectsNull, snakeCase } from '@postroom/platform';
import { scalarSchema, declaredSchema } from './scalars.ts';
import { type Components, orNull, type Schema, withDescription } from './schemas.ts';

/** The schema of a request value of this type, narrowed by its declared JSON schema. */
export function inputSchema(type: GraphQLInputType, components: Components, more?: Schema): Schema {
  const schema = { ...presentInput(getNullableType(type), components), ...more };
  return isNonNullType(type) ? schema : orNull(schema);
}

function presentInput(type: GraphQLInputType, components: Components): Schema {
  if (isListType(type)) return { type: 'array', items: inputSchema(type.ofType, components) };
  const named = getNamedType(type);
  if (isLeafType(named)) return scalarSchema(named, 'request', components);
  const fields = Object.values((named as GraphQLInputObjectType).getFields());
  const members = fields.map((field): Member => [
    snakeCase(field.name),
    fieldSchema(field, components),
    isRequiredInputField(field),
  ]);
  return components.named(
    named.name,
    withDescription({ type: 'object', ...objectOf(members), ...declaredSchema(named) }, named.description),
  );
}

/** The schema of a field of an input object. */
export function fieldSchema(field: GraphQLInputField, components: Components): Schema {
  const type = rejectsNull(field) && isNullableType(field.type) ? new GraphQLNonNull(field.type) : field.type;
  const schema = inputSchema(type, components, declaredSchema(field));
  const withDefault = field.defaultValue === undefined ? schema : { ...schema, default: field.defaultValue };
  return withDescription(withDefault, field.description, field.deprecationReason);
}

/** The argument that each variable of a document is used for, which provides its description. */
export type VariableArguments = ReadonlyMap<string, GraphQLArgument | GraphQLInputField>;

/** The body schema of a route whose members are separate variables. */
export function bodyOf(variables: readonly Variable[], used: VariableArguments, components: Components): Schema {
  const members = variables.map(({ name, variable, type }): Member => {
    const given = used.get(variable);
    const schema = inputSchema(type, components, given && declaredSchema(given));
    return [name, withDescription(schema, given?.description), isNonNullType(type)];
  });
  return { type: 'object', ...objectOf(members) };
}

type Member = [name: string, schema: Schema, required: boolean];

/** Rejects unknown members, so that typos are reported. */
function objectOf(members: readonly Member[]): Schema {
  const required = members.filter(([, , needed]) => needed).map(([name]) => name);
  return {
    properties: Object.fromEntries(members.map(([name, schema]) => [name, schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}
