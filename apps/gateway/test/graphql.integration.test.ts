import { signedIn, testApi } from '@postroom/testkit';
import {
  buildSchema,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../src/schema.ts';

const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);
test('every type, field, argument and enum value has a description, and none refers to the specification', () => {
  const bare = types.flatMap((type) => {
    const fields = isObjectType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : [];
    const args = fields.flatMap((field) =>
      'args' in field
        ? field.args.map((arg: { name: string }) => ({ ...arg, name: `${field.name}(${arg.name})` }))
        : [],
    );
    const values = isEnumType(type) ? type.getValues() : [];
    return [{ name: '', description: type.description }, ...fields, ...args, ...values]
      .filter((member) => !member.description || /\((spec|design)\b/i.test(member.description))
      .map((member) => `${type.name}.${member.name}`);
  });
  expect(bare).toEqual([]);
});

test('every deprecation names a replacement that is in the schema', () => {
  expect(deprecationProblems(schema)).toEqual([]);
});

test('a deprecation without a replacement is found', () => {
  const careless = buildSchema(`
    type Query {
      good: Int @deprecated(reason: "Use Query.better.")
      better(old: Int @deprecated(reason: "Use Query.nothing.")): State
      gone: Int @deprecated(reason: "Nothing replaces it: it was always zero.")
      bad: Int @deprecated
    }
    enum State { fine wrong @deprecated(reason: "Do not use it.") }
    input Filter { by: Int @deprecated(reason: "Use State.fine."), at: Int @deprecated(reason: "Use fine.") }`);
  expect(deprecationProblems(careless)).toEqual(['Query.better(old)', 'Query.bad', 'State.wrong', 'Filter.at']);
});

test("errors carry the specification's codes and no internals", async () => {
  const api = await testApi();
  const missing = await api.graphql('{ group(id: "grp_nothing") { id } }');
  expect(missing.body.errors[0]).toMatchObject({
    message: 'No such group in this project.',
    extensions: { code: 'not_found' },
  });
  expect(missing.body.errors[0].extensions.stack).toBeUndefined();
  const nobody = await api.graphql('{ groups { nodes { id } } }', {}, { key: null });
  expect(nobody).toMatchObject({ status: 401, body: { errors: [{ extensions: { code: 'unauthorized' } }] } });
  const unknown = await api.graphql('{ groups { nodes { id } } }', {}, { key: `pr_${'a'.repeat(40)}` });
  expect(unknown.status).toBe(401);
});

test.each([
  ['query ($f: AuditLogFilter) { auditLog(filter: $f) { totalCount } }', { f: { since: 'x' } }, 'f.since'],
  ['mutation ($n: String!) { renameProject(name: $n) { id } }', { n: 'a\0 at "x"' }, 'n'],
  ['query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: ['grp_1', 'a\0 at "x"'] }, 'ids.1'],
  ['query ($w: JSON) { contacts(where: $w) { totalCount } }', { w: { a: 'a\0' } }, 'w'],
])('an error of a scalar names the field and does not repeat the value: %s', async (query, variables, field) => {
  const { body } = await (await signedIn(await testApi())).graphql(query, variables);
  const [{ message, extensions }] = body.errors;
  expect(extensions).toMatchObject({ code: 'validation_error', details: [{ field }] });
  expect(message).toBe(`${field}: ${extensions.details[0].message}`);
  expect(message).not.toContain('at "');
});

test.each([
  ['query ($n: ID!) { node(id: $n) { id } }', { n: null }, 'n', 'is required'],
  ['query ($id: ID!) { group(id: $id) { id } }', {}, 'id', 'is required'],
  [
    'query ($n: Int) { groups(first: $n) { totalCount } }',
    { n: 'x; y' },
    'n',
    'Int cannot represent non-integer value: "x; y"',
  ],
  [
    'query ($f: AuditLogFilter) { auditLog(filter: $f) { totalCount } }',
    { f: { sinceWhen: 'x' } },
    'f',
    expect.stringMatching(/^Field "sinceWhen" is not defined/),
  ],
])(
  'a variable of the wrong type is a validation_error that names the field: %s',
  async (query, variables, field, message) => {
    const { body } = await (await signedIn(await testApi())).graphql(query, variables);
    expect(body.errors[0].extensions).toEqual({ code: 'validation_error', details: [{ field, message }] });
  },
);

test.each([
  [
    'depth',
    `{ ...F0 } ${Array.from({ length: 14 }, (_, n) => `fragment F${n} on Query { ...F${n + 1} }`).join(' ')} fragment F14 on Query { projects { id } }`,
  ],
  ['aliases', `{ ${Array.from({ length: 40 }, (_, index) => `a${index}: projects { id }`).join(' ')} }`],
  ['directives', `{ projects { ${'id @include(if: true) '.repeat(40)} } }`],
  ['tokens', `{ projects { ${'id '.repeat(2_100)} } }`],
])('a document over the limit on %s is rejected before it runs', async (_limit, query) => {
  const api = await testApi();
  const reply = await api.graphql(query);
  expect(reply.body.data).toBeUndefined();
  expect(reply.body.errors[0]).toMatchObject({
    message: expect.stringMatching(/limit/),
    extensions: { code: 'validation_error' },
  });
});

test('cost includes variables: a page of 1,000 pages is rejected', async () => {
  const api = await testApi();
  const query = `query ($n: Int) { ${['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((alias) => `${alias}: groups(first: $n) { nodes { id name contactIds contacts { id email name } } }`).join(' ')} }`;
  expect((await api.graphql(query, { n: 1 })).body.errors).toBeUndefined();
  expect((await api.graphql(query, { n: 1000 })).body.errors[0]).toMatchObject({
    extensions: { code: 'validation_error' },
  });
});

test('a page size out of range is a validation error', async () => {
  const api = await testApi();
  for (const first of [0, -1, 1001]) {
    const reply = await api.graphql('query ($first: Int) { groups(first: $first) { nodes { id } } }', { first });
    expect(reply.body.errors[0].extensions).toMatchObject({ code: 'validation_error', details: [{ field: 'first' }] });
  }
});

test('node finds any row of the project by its global id, and nothing of another project', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const create = 'mutation { createTemplate(input: {name: "T", body: "b"}) { id } }';
  const { id } = (await api.graphql(create)).body.data.createTemplate;
  const node = 'query ($id: ID!) { node(id: $id) { id ... on Template { name } } }';
  expect((await api.graphql(node, { id })).body.data).toEqual({ node: { id, name: 'T' } });
  expect((await other.graphql(node, { id })).body.data).toEqual({ node: null });
  expect((await api.graphql(node, { id: 'nonsense' })).body.data).toEqual({ node: null });
});

interface Deprecatable {
  name: string;
  deprecationReason?: string | null | undefined;
}

/** Deprecations whose reason does not have the form that docs/reference/graphql.md promises. */
function deprecationProblems(schema: GraphQLSchema): string[] {
  const all = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  const members = all.flatMap((type): [string, Deprecatable][] => {
    if (isEnumType(type)) return type.getValues().map((value) => [`${type.name}.${value.name}`, value]);
    if (isInputObjectType(type))
      return Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field]);
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return Object.values(type.getFields()).flatMap((field): [string, Deprecatable][] => [
      [`${type.name}.${field.name}`, field],
      ...field.args.map((arg): [string, Deprecatable] => [`${type.name}.${field.name}(${arg.name})`, arg]),
    ]);
  });
  const known = new Set(members.map(([name]) => name));
  return members
    .filter(([, { deprecationReason: reason }]) => reason != null && !isAnswered(reason, known))
    .map(([name]) => name);
}

function isAnswered(reason: string, known: ReadonlySet<string>): boolean {
  if (/^Nothing replaces it: \S/.test(reason)) return true;
  const [, replacement = ''] = /^Use (\w+\.\w+)\b/.exec(reason) ?? [];
  return known.has(replacement);
}
