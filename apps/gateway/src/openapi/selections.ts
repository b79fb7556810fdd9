import {
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { scalarSchema, declaredSchema } from './scalars.ts';
import { type Components, type ObjectSchema, orNull, type Schema, withDescription } from './schemas.ts';

/** A selected member: its name in the response, its schema field, and its own selections. */
export interface Selection {
  key: string;
  field: GraphQLField<unknown, unknown>;
  selectionSets: SelectionSetNode[];
  /** Whether it is only selected on request, by `@include(if: $…)`. */
  isOptional: boolean;
}

/** The members of an operation's response. */
export function rootSelections(schema: GraphQLSchema, operation: OperationDefinitionNode): Selection[] {
  const root = schema.getRootType(operation.operation);
  if (root == null) throw new Error(`The schema has no ${operation.operation} type.`);
  return selections(schema, root, [operation.selectionSet]);
}

/** The selected members of an object type, including those of matching inline fragments. */
export function selections(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): Selection[] {
  const found = new Map<string, Selection>();
  for (const node of sets.flatMap((set) => fieldNodes(schema, type, set))) {
    const key = node.alias?.value ?? node.name.value;
    const field = node.name.value === '__typename' ? typenameField(schema) : type.getFields()[node.name.value];
    if (field === undefined) throw new Error(`${type.name} has no field ${node.name.value}.`);
    const isOptional = node.directives?.some(({ name }) => name.value === 'include') === true;
    const selection = found.get(key) ?? { key, field, selectionSets: [], isOptional };
    if (node.selectionSet !== undefined) selection.selectionSets.push(node.selectionSet);
    found.set(key, selection);
  }
  return [...found.values()];
}

function fieldNodes(schema: GraphQLSchema, type: GraphQLObjectType, set: SelectionSetNode): FieldNode[] {
  return set.selections.flatMap((node) => {
    if (node.kind === Kind.FIELD) return [node];
    if (node.kind === Kind.FRAGMENT_SPREAD)
      throw new Error('Route documents must not use named fragments: inline the fields.');
    const condition = node.typeCondition === undefined ? type : schema.getType(node.typeCondition.name.value);
    const holds = condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));
    return holds ? fieldNodes(schema, type, node.selectionSet) : [];
  });
}

const typenameField = (schema: GraphQLSchema) =>
  ({ name: '__typename', type: schema.getType('String'), description: 'The name of the type.' }) as GraphQLField<
    unknown,
    unknown
  >;

/** Generates the schemas of selections. */
export class SelectionSchemas {
  readonly #schema: GraphQLSchema;
  readonly #components: Components;

  constructor(schema: GraphQLSchema, components: Components) {
    this.#schema = schema;
    this.#components = components;
  }

  /** The schema of a selected member, with its description. */
  member({ field, selectionSets }: Selection): Schema {
    const schema = this.ofType(field.type, selectionSets, declaredSchema(field));
    return withDescription(schema, field.description, field.deprecationReason);
  }

  /**
   * The schema of rows of which `optional` members may be absent. They are not of the selected type, so they are
   * described in place.
   */
  inPlace({ field, selectionSets }: Selection, optional: readonly string[]): Schema {
    const type = getNullableType(field.type);
    const named = getNamedType(type);
    if (!isObjectType(named)) return this.#present(type, selectionSets);
    const members = selections(this.#schema, named, selectionSets);
    const row: ObjectSchema = {
      type: 'object',
      properties: Object.fromEntries(
        members.map((member) => [
          member.key,
          optional.includes(member.key) ? this.inPlace(member, []) : this.member(member),
        ]),
      ),
      required: members.map(({ key }) => key).filter((key) => !optional.includes(key)),
    };
    return isListType(type) ? { type: 'array', items: row } : row;
  }

  ofType(type: GraphQLOutputType, sets: readonly SelectionSetNode[], more?: Schema): Schema {
    const schema = { ...this.#present(getNullableType(type), sets), ...more };
    return isNonNullType(type) ? schema : orNull(schema);
  }

  #present(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): Schema {
    if (isListType(type)) return { type: 'array', items: this.ofType(type.ofType, sets) };
    const named = getNamedType(type);
    if (isLeafType(named)) return scalarSchema(named, 'response', this.#components);
    if (isObjectType(named)) return this.#object(named, sets);
    return { oneOf: this.#schema.getPossibleTypes(named as never).map((possible) => this.#object(possible, sets)) };
  }

  #object(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Schema {
    const members = selections(this.#schema, type, sets);
    const schema: ObjectSchema = {
      ...withDescription({ type: 'object' as const }, type.description),
      properties: Object.fromEntries(members.map((member) => [member.key, this.#memberOf(type, member)])),
      required: members.map((member) => member.key),
    };
    return this.#components.selected(type.name, schema);
  }

  #memberOf(type: GraphQLObjectType, member: Selection): Schema {
    return member.field.name === '__typename' ? { type: 'string', const: type.name } : this.member(member);
  }
}
