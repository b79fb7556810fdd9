import { accepted, created, deleted, found, gql, page, type Route } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import SwaggerParser from '@apidevtools/swagger-parser';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { routes, streams } from '../../src/routes.ts';
import { schema } from '../../src/schema.ts';
import { Conformance } from './conformance.ts';
import { type OpenApiDocument, openApiDocument } from '../../src/openapi/document.ts';
import type { Schema } from '../../src/openapi/schemas.ts';

const document = openApiDocument(schema, routes, streams);
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ at: `${method.toUpperCase()} ${path}`, operation })),
);

test('the document is valid OpenAPI 3.1', async () => {
  await expect(SwaggerParser.validate(structuredClone(document) as never)).resolves.toMatchObject({ openapi: '3.1.0' });
});

test('every schema in it is a valid JSON Schema 2020-12', () => {
  expect(() => new Conformance(document).compileAll()).not.toThrow();
});

test('every example is valid for its schema', () => {
  const conformance = new Conformance(document);
  for (const { at, operation } of operations) {
    const content = (
      operation.requestBody?.content as Record<string, { example?: unknown; schema: Schema }> | undefined
    )?.['application/json'];
    expect([at, content?.example === undefined ? [] : conformance.problems(content.schema, content.example)]).toEqual([
      at,
      [],
    ]);
  }
});

test('every route is included with a unique id, a summary, a tag and every possible error', () => {
  expect(operations.map(({ at }) => at).toSorted()).toEqual(
    [...routes, ...streams].map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { at, operation } of operations) {
    const always = ['400', '401', '403', '429', '500'];
    const inPath = at.includes('{') ? ['404'] : [];
    const body = /^(POST|PATCH|PUT)/.test(at) ? ['409', '413', '415'] : [];
    expect([at, Object.keys(operation.responses)]).toEqual([
      at,
      expect.arrayContaining([...always, ...inPath, ...body]),
    ]);
    expect([at, Object.keys(operation.responses).some((status) => status.startsWith('2'))]).toEqual([at, true]);
    expect([at, typeof operation.summary, (operation.tags as string[]).length]).toEqual([at, 'string', 1]);
  }
});

test('every parameter and every member of a request has a description', () => {
  const silent = operations.flatMap(({ at, operation }) =>
    operation.parameters
      .filter((each) => each.$ref === undefined && !each.description)
      .map(({ name }) => `${at} ${String(name)}`),
  );
  const inputs = Object.entries(document.components.schemas as Record<string, Schema>).filter(([name]) =>
    name.endsWith('Input'),
  );
  const members = inputs.flatMap(([name, input]) =>
    Object.entries(input.properties as Record<string, Schema>)
      .filter(([, member]) => !member.description)
      .map(([member]) => `${name}.${member}`),
  );
  expect([...silent, ...members]).toEqual([]);
});

test('every tag, body and schema has a description, and names are in PascalCase', () => {
  const schemas = Object.entries(document.components.schemas as Record<string, Schema>);
  const silent = [
    ...document.tags.filter(({ description }) => !description).map(({ name }) => name),
    ...operations.filter(({ operation }) => operation.requestBody?.description === '').map(({ at }) => at),
    ...schemas.filter(([, { description }]) => !description).map(([name]) => name),
  ];
  expect(silent).toEqual([]);
  expect(schemas.map(([name]) => name).filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual([]);
});

test('an update needs a body', () => {
  const updates = operations.filter(({ at }) => at.startsWith('PATCH'));
  expect(updates.filter(({ operation }) => operation.requestBody?.required !== true).map(({ at }) => at)).toEqual([]);
});

test('it is served without a key, also to browsers, and cached', async () => {
  const { url } = await testApi();
  const first = await fetch(`${url}/v1/openapi.json`);
  expect(first.status).toBe(200);
  expect(first.headers.get('access-control-allow-origin')).toBe('*');
  expect(await first.json()).toEqual(JSON.parse(JSON.stringify(document)));
  const headers = { 'If-None-Match': first.headers.get('etag') ?? '' };
  expect((await fetch(`${url}/v1/openapi.json`, { headers })).status).toBe(304);
});

test('every body is a named schema, and no nested object is anonymous', () => {
  const contents = operations.flatMap(({ operation }) => [
    ...Object.values((operation.requestBody?.content ?? {}) as Record<string, { schema: Schema }>),
    ...Object.values(operation.responses).flatMap(({ content }) =>
      Object.values((content ?? {}) as Record<string, { schema: Schema }>),
    ),
  ]);
  expect(
    contents.map(({ schema: body }) => body).filter((body) => body.$ref === undefined && body.type !== 'string'),
  ).toEqual([]);
  const inline = Object.entries(document.components.schemas as Record<string, Schema>).flatMap(
    ([name, { properties = {} }]) =>
      Object.entries(properties as Record<string, Schema>)
        .filter(([, part]) => JSON.stringify(part).includes('"properties"'))
        .map(([member]) => `${name}.${member}`),
  );
  expect(inline).toEqual([]);
});

test("it avoids what generators can't compile: nested anyOf, constant booleans, content of a parameter", () => {
  const found: string[] = [];
  const look = (part: unknown, at: string): void => {
    if (typeof part !== 'object' || part === null) return;
    const { anyOf = [], const: only, in: place, content } = part as { anyOf?: Schema[] } & Schema;
    if (Array.isArray(anyOf) && anyOf.some((each) => each.anyOf !== undefined)) found.push(`${at}: nested anyOf`);
    if (typeof only === 'boolean') found.push(`${at}: const ${only}`);
    if (typeof place === 'string' && content !== undefined) found.push(`${at}: content of a parameter`);
    for (const [name, inner] of Object.entries(part)) look(inner, `${at}/${name}`);
  };
  look(document, '#');
  expect(found).toEqual([]);
});

/** Strings without a maximum length, by the end of their path: servers, DNS or Postroom write them, and no rule limits them. */
const UNLIMITED: Record<string, RegExp> = {
  'server responses and reasons':
    /\/(answer|bounceReason|detail|disabledReason|error|fix|message|pausedReason|pauseReason|reason|waitingReason)$/,
  'subjects with placeholders filled in': /\/(Email|EmailDetail|Email\w+EventData)\/properties\/subject$/,
  'paths into a request, and names of placeholders': /\/(field|VariableCheck\/properties\/(name|fallback))$/,
  'DNS records and their providers':
    /\/(DnsRecord|RecommendedRecord|DomainRecommendation|DnsProvider|LifecycleEvent)\//,
  'fixed values':
    /\/(ImportColumn\/properties\/(type|fields\/items)|Import(Detail)?\/properties\/encoding|region|TestEmail\/properties\/status|EmailEvent\/properties\/type)$/,
  'links that were clicked': /\/EmailClickedEventData\/properties\/url$/,
  'cells of imported files': /\/ImportCause\/properties\/value$/,
  'keys of metadata': /\/propertyNames$/,
  'composed HTML': /\/embedHtml$/,
  'the configured URL of the Temporal UI': /\/workflowUrl$/,
  'whole files': /\/(text\/csv\/schema|ImportContactsForm\/properties\/file)$/,
};

test('every string in parameters, requests and responses has a limit, except the listed ones', () => {
  const unlimited: string[] = [];
  const look = (part: unknown, at: string): void => {
    if (typeof part !== 'object' || part === null) return;
    const isText = [(part as Schema).type].flat().includes('string');
    if (isText && !['maxLength', 'pattern', 'enum', 'const', 'format'].some((bound) => bound in part))
      unlimited.push(at);
    for (const [name, inner] of Object.entries(part)) {
      if (!['example', 'examples', 'enum'].includes(name)) look(inner, `${at}/${name}`);
    }
  };
  look(document, '#');
  const reasons = Object.entries(UNLIMITED);
  expect(unlimited.filter((at) => !reasons.some(([, paths]) => paths.test(at)))).toEqual([]);
  for (const [reason, paths] of reasons)
    expect([reason, unlimited.some((at) => paths.test(at))]).toEqual([reason, true]);
});

// Response derivation, on a separate schema.

const small = buildSchema(`
  enum Outcome { made found }
  type Thing { id: ID! name: String size: Int! outcome: Outcome! parts: [Part!]! }
  type Part { id: ID! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Things { nodes: [Thing!]! pageInfo: PageInfo! }
  type Payload { thing: Thing! created: Boolean! matched: Int! }
  input ThingInput { name: String! partIds: [ID!] size: Int = 3 }
  type Query { thing(id: ID!): Thing! things(first: Int, after: String, minSize: Int!): Things! maybe: Thing }
  type Mutation { makeThing(input: ThingInput!): Payload! removeThing(id: ID!): Boolean! }
`);

function documentRoute(route: Partial<Route> & Pick<Route, 'document' | 'reply'>) {
  const full: Route = { method: 'GET', path: '/v1/things', needs: 'full', summary: 'A thing', tag: 'Things', ...route };
  const made: OpenApiDocument = openApiDocument(small, [full]);
  const operation = made.paths[full.path]?.[full.method.toLowerCase()];
  const schemas = made.components.schemas as Record<string, Schema>;
  const content = (status: number) => operation?.responses[status]?.content as Record<string, { schema: Schema }>;
  /** The name of a response. */
  const replyName = (status: number) => nameOf(content(status)?.['application/json']?.schema);
  const reply = (status: number) => schemas[replyName(status) ?? ''];
  return { operation, reply, replyName, schemas };
}

const nameOf = (schema: Schema | undefined) => (schema?.$ref as string | undefined)?.split('/').at(-1);

const thing = { $ref: '#/components/schemas/Thing' };

test('{data} of a row is a reference to what the document selects of it', () => {
  const { reply, replyName, schemas } = documentRoute({
    path: '/v1/things/{id}',
    document: gql`
      query ($id: ID!) {
        thing(id: $id) {
          id
          name
          size
          outcome
          parts {
            id
          }
        }
      }
    `,
    reply: found('thing'),
  });
  expect(reply(200)).toEqual({
    type: 'object',
    description: 'Has a `Thing` in `data`.',
    properties: { data: thing },
    required: ['data'],
  });
  expect(replyName(200)).toBe('ThingResponse');
  expect(schemas.Thing).toEqual({
    type: 'object',
    properties: {
      id: { type: 'string', maxLength: 64 },
      name: { type: ['string', 'null'] },
      size: { type: 'integer', format: 'int32' },
      outcome: { $ref: '#/components/schemas/Outcome' },
      parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
    },
    required: ['id', 'name', 'size', 'outcome', 'parts'],
  });
});

test('{data, has_more, next_cursor} of a connection', () => {
  const { operation, reply, replyName } = documentRoute({
    document: gql`
      query ($limit: Int, $cursor: String, $minSize: Int!) {
        things(first: $limit, after: $cursor, minSize: $minSize) {
          nodes {
            id
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    `,
    reply: page('things'),
  });
  expect(reply(200)).toMatchObject({
    properties: {
      data: { type: 'array', items: thing },
      has_more: { type: 'boolean' },
      next_cursor: { type: ['string', 'null'] },
    },
    required: ['data', 'has_more', 'next_cursor'],
  });
  expect(reply(200)).not.toHaveProperty('properties.has_more.const');
  expect(replyName(200)).toBe('ThingListResponse');
  expect(operation?.operationId).toBe('listThings');
  expect(operation?.parameters.slice(0, 3)).toMatchObject([
    { name: 'limit', in: 'query', required: false, schema: { minimum: 1, maximum: 1000 } },
    { name: 'cursor', in: 'query', required: false },
    { name: 'min_size', in: 'query', required: true, schema: { type: 'integer' } },
  ]);
});

test('{deleted: true} has its own name, and its boolean is not declared constant', () => {
  const { reply, replyName } = documentRoute({
    method: 'DELETE',
    path: '/v1/things/{id}',
    document: gql`
      mutation ($id: ID!) {
        removeThing(id: $id)
      }
    `,
    reply: deleted(),
  });
  expect(reply(200)).toMatchObject({
    properties: { deleted: { type: 'boolean' } },
    required: ['deleted'],
  });
  expect(reply(200)).not.toHaveProperty('properties.deleted.const');
  expect(replyName(200)).toBe('DeletedResponse');
});

const make = gql`
  mutation ($input: ThingInput!) {
    makeThing(input: $input) {
      created
      matched
      thing {
        id
        name
        outcome
      }
    }
  }
`;

test('a status that depends on the outcome is described with both statuses', () => {
  const { reply } = documentRoute({
    method: 'POST',
    document: make,
    reply: found('makeThing.thing', { createdIf: 'makeThing.created', beside: { matched: 'makeThing.matched' } }),
  });
  for (const status of [200, 201]) {
    expect(reply(status)).toMatchObject({
      properties: { data: thing, matched: { type: 'integer' } },
      required: ['data', 'matched'],
    });
  }
});

test('members added to a row extend its schema', () => {
  const { reply, schemas } = documentRoute({
    method: 'POST',
    document: make,
    reply: accepted('makeThing.thing', { merged: { fresh: 'makeThing.created' } }),
  });
  const data = reply(202)?.properties as Record<'data', Schema>;
  expect(schemas[nameOf(data.data) ?? '']).toEqual({
    description: '`data` of `MakeThingResult`.',
    allOf: [thing, { type: 'object', properties: { fresh: { type: 'boolean' } }, required: ['fresh'] }],
  });
});

test('an object of selected members and constants has only those', () => {
  const { reply, schemas } = documentRoute({
    method: 'POST',
    document: make,
    reply: accepted({ id: 'makeThing.thing.id', status: { constant: 'making' } }),
  });
  const data = reply(202)?.properties as Record<'data', Schema>;
  expect(schemas[nameOf(data.data) ?? '']).toEqual({
    type: 'object',
    description: '`data` of `MakeThingResult`.',
    properties: { id: { type: 'string', maxLength: 64 }, status: { type: 'string', const: 'making' } },
    required: ['id', 'status'],
  });
});

test('a member that is omitted where it is null is optional, and not null', () => {
  const { reply, schemas } = documentRoute({
    method: 'POST',
    document: make,
    reply: created('makeThing.thing', { omitNull: ['name'] }),
  });
  const data = reply(201)?.properties as Record<'data', Schema>;
  expect(schemas[nameOf(data.data) ?? '']).toMatchObject({
    properties: { name: { type: 'string' } },
    required: ['id', 'outcome'],
  });
});

test('a reply that names what its document does not select is an error', () => {
  expect(() => documentRoute({ method: 'POST', document: make, reply: created('makeThing.size') })).toThrow(
    'POST /v1/things: its document does not select makeThing.size.',
  );
});

test('nullable values are nullable, also at the top level', () => {
  const { reply } = documentRoute({
    document: gql`
      query {
        maybe {
          id
        }
      }
    `,
    reply: found('maybe'),
  });
  expect(reply(200)).toHaveProperty('properties.data', { anyOf: [thing, { type: 'null' }] });
});

test('a request accepts the members of its input in snake_case, and no others', () => {
  const { operation, schemas } = documentRoute({ method: 'POST', document: make, reply: created('makeThing') });
  expect(operation?.requestBody).toMatchObject({
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ThingInput' } } },
  });
  expect(schemas.ThingInput).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 1_048_576 },
      part_ids: { type: ['array', 'null'], items: { type: 'string', maxLength: 64 } },
      size: { type: ['integer', 'null'], format: 'int32', minimum: -2_147_483_647, default: 3 },
    },
    required: ['name'],
    additionalProperties: false,
  });
});

test('two selections of a type have different names', () => {
  const routesOf = (...selections: string[]) =>
    selections.map((selection, index): Route => ({
      method: 'GET',
      path: `/v1/${'abc'[index]}/{id}`,
      needs: 'full',
      summary: 'A thing',
      tag: 'Things',
      document: gql`query ($id: ID!) { thing(id: $id) { ${selection} } }`,
      reply: found('thing'),
    }));
  const names = Object.keys(openApiDocument(small, routesOf('id name', 'id', 'id name size')).components.schemas ?? {});
  expect(names.filter((name) => /^Thing(?!.*Response$)/.test(name))).toEqual(['Thing', 'ThingSummary', 'ThingDetail']);
});
