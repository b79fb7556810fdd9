import { assertValid, type Context, type FieldProblem, rejectsNull } from '@postroom/platform';
import { getNamedType, type GraphQLInputType, type GraphQLSchema, isInputObjectType } from 'graphql';

interface Input {
  name: string;
  type: GraphQLInputType;
  extensions: object;
}

/** The problems of a value at a path. */
type Check = (value: unknown, path: string) => FieldProblem[];

/** Makes mutations reject null for inputs that may only be omitted. GraphQL has no type for those. */
export function rejectNulls(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field;
    const check = membersCheck(field.args);
    if (resolve === undefined || check === undefined) continue;
    field.resolve = (root, args: object, context: Context, info): unknown => {
      assertValid(check(args, ''));
      return resolve(root, args, context, info);
    };
  }
  return schema;
}

/** The check of an object with these members; undefined if none of them can fail. */
function membersCheck(members: readonly Input[]): Check | undefined {
  const checks = members.flatMap((member) => {
    const check = inputCheck(member);
    return check === undefined ? [] : [[member.name, check] as const];
  });
  if (checks.length === 0) return undefined;
  return (given, path) =>
    // Errors name the members of `input` as though they were arguments.
    checks.flatMap(([name, check]) =>
      check((given as Record<string, unknown>)[name], name === 'input' ? path : path + name),
    );
}

function inputCheck(input: Input): Check | undefined {
  const type = getNamedType(input.type);
  const inner = isInputObjectType(type) ? membersCheck(Object.values(type.getFields())) : undefined;
  const isRejected = rejectsNull(input);
  if (inner === undefined && !isRejected) return undefined;
  return (value, path) => {
    if (value === undefined) return [];
    if (value === null) return isRejected ? [{ field: path, message: 'must not be null' }] : [];
    if (inner === undefined) return [];
    const within = path === '' ? '' : `${path}.`;
    return Array.isArray(value)
      ? value.flatMap((item, index) => (item === null ? [] : inner(item, `${within}${index}.`)))
      : inner(value, within);
  };
}
