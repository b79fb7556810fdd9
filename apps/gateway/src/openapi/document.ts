import { MAX_ID_LENGTH, type Route, type StreamRoute } from '@postroom/platform';
import type { GraphQLSchema } from 'graphql';
import { nameSchemas } from './names.ts';
import { describeRoute, type Operation } from './operations.ts';
import { errorComponents, errorSchema, HEADERS } from './responses.ts';
import { Components, type Schema } from './schemas.ts';
import { describeStream } from './streams.ts';
import { eventCallbacks } from './webhooks.ts';

type PathItem = Record<string, Operation>;

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: Schema;
  servers: Schema[];
  security: Schema[];
  tags: { name: string; description: string }[];
  paths: Record<string, PathItem>;
  components: Record<string, Schema>;
}

/**
 * The OpenAPI 3.1 document of `/v1`, generated from the routes, their GraphQL documents and the schema, so that it
 * always matches the implementation.
 */
export function openApiDocument(
  schema: GraphQLSchema,
  routes: readonly Route[],
  streams: readonly StreamRoute[] = [],
): OpenApiDocument {
  const components = new Components();
  errorSchema(components);
  const operations = new Map(inOrderOfNames(routes).map((route) => [route, describeRoute(schema, route, components)]));
  const paths: Record<string, PathItem> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    (paths[route.path] as PathItem)[route.method.toLowerCase()] = operations.get(route) as Operation;
  }
  for (const stream of streams) {
    paths[stream.path] ??= {};
    (paths[stream.path] as PathItem)[stream.method.toLowerCase()] = describeStream(schema, stream, components);
  }
  tellApart(paths);
  addLinks(paths);
  const subscribe = paths['/v1/webhooks']?.post;
  if (subscribe !== undefined) subscribe.callbacks = eventCallbacks(components);
  nameSchemas(
    Object.values(paths).flatMap((item) => Object.values(item)),
    components,
  );
  return {
    openapi: '3.1.0',
    info: INFO,
    // Relative, so it is the host that the document was fetched from.
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: [...new Set([...routes, ...streams].map((route) => route.tag))].map((name) => ({
      name,
      description: TAGS[name] ?? '',
    })),
    paths,
    components: {
      schemas: components.schemas,
      responses: errorComponents(),
      headers: HEADERS,
      parameters: PARAMETERS,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'pr_…',
          description: 'A secret API key, created in the dashboard (Settings, API).',
        },
      },
    },
  };
}

/**
 * Lists come first, so that their selection gets the type's plain name; single rows come before the responses of
 * writes.
 */
function inOrderOfNames(routes: readonly Route[]): Route[] {
  const rank = ({ method, path }: Route) => (method !== 'GET' ? 2 : path.endsWith('}') ? 1 : 0);
  return [...routes].sort((a, b) => rank(a) - rank(b));
}

/** Renames operations that start with the same field after their paths: `listDeliveries`, `listWebhookDeliveries`. */
function tellApart(paths: Record<string, PathItem>): void {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item).map((operation) => ({ path, operation })),
  );
  const ids = all.map(({ operation }) => operation.operationId);
  for (const { path, operation } of all) {
    const { operationId: id } = operation;
    if (ids.filter((other) => other === id).length > 1) operation.operationId = idOfPath(id, path);
  }
  const [twice] = all
    .map(({ operation }) => operation.operationId)
    .filter((id, index, every) => every.indexOf(id) !== index);
  if (twice !== undefined) throw new Error(`Two routes have the operation id ${twice}.`);
}

function idOfPath(id: string, path: string): string {
  const verb = /^[a-z]+/.exec(id)?.[0] ?? id;
  const nouns = [...path.replace('/v1', '').matchAll(/\/([a-z][a-z-]*)(\/\{)?/g)].map(([, noun = '', under]) =>
    under === undefined ? noun : noun.replace(/ies$/, 'y').replace(/s$/, ''),
  );
  return (
    verb + nouns.map((noun) => noun.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())).join('')
  );
}

/** Links the POST of a collection to the operations on the row that it creates. */
function addLinks(paths: Record<string, PathItem>): void {
  for (const [path, { get, post }] of Object.entries(paths)) {
    const under = Object.entries(paths).filter(
      ([other]) => other.startsWith(`${path}/{id}`) && !other.includes('{domain}'),
    );
    const operations = under.flatMap(([, item]) => Object.values(item)).map(({ operationId }) => operationId);
    if (operations.length === 0) continue;
    addLinksTo(get, operations, '$response.body#/data/0/id');
    addLinksTo(post, operations, '$response.body#/data/id');
  }
}

function addLinksTo(from: Operation | undefined, operations: string[], id: string): void {
  const links = operations.map((operationId): [string, Schema] => [operationId, { operationId, parameters: { id } }]);
  for (const [status, response] of Object.entries(from?.responses ?? {})) {
    if (status.startsWith('2')) response.links = Object.fromEntries(links);
  }
}

const PARAMETERS: Record<string, Schema> = {
  ProjectId: {
    name: 'X-Project-Id',
    in: 'header',
    required: false,
    schema: { type: 'string', maxLength: MAX_ID_LENGTH },
    description: 'The project to act on. Required if the key covers several projects.',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
    description:
      'A unique key for this request. Repeating the request with the same key within 24 hours returns the first response without repeating the operation.',
  },
};

/** Descriptions of the API's sections. */
const TAGS: Record<string, string> = {
  Projects: 'The projects a key can access. Everything else belongs to a project.',
  Emails: 'Transactional email: send, schedule, cancel and track.',
  Contacts: 'The people a project may write to.',
  'Custom fields': 'Additional fields that a project stores for each contact.',
  'Custom events': 'Events that contacts cause in your product, such as an order or a sign-in.',
  Suppressions: 'Addresses that must not be mailed, and why.',
  Segments: 'Contacts selected by a filter, always up to date.',
  Groups: 'Contacts selected individually.',
  Imports: 'Bulk imports of contacts from CSV files.',
  Campaigns: 'One email to many contacts.',
  'A/B tests': 'Variants of a campaign, each sent to a share of the audience, and the best one to the rest.',
  Journeys:
    'Automations that take contacts through steps: messages, waits and conditions. Backtests run them against the past.',
  Forms: 'Pages on which people can subscribe, with double opt-in and records of consent.',
  Templates: 'Reusable emails with version history.',
  Domains: 'The domains that a project sends from, and their DNS records.',
  Webhooks: 'Endpoints that events are posted to, and each delivery.',
};

const INFO: Schema = {
  title: 'Postroom',
  version: '1',
  summary: 'Contacts, campaigns, transactional email and webhooks.',
  contact: { name: 'Postroom' },
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  description: `
Everything is JSON over HTTP. Authenticate each request with an API key: \`Authorization: Bearer pr_…\`.

**Projects.** Every request acts on one project. A key with access to several projects selects one with \`X-Project-Id\`.

**Names.** Requests use snake_case, responses camelCase. Unknown fields are rejected, so a misspelled one is never silently ignored.

**Null.** In a POST, null is the same as an omitted field. In a PATCH, null removes a value or restores a default, and an omitted field keeps its value.
A field that always has a value rejects null in a PATCH, so that an unset variable does not clear it.

**Lists** are sorted newest first: \`{"data": […], "has_more": true, "next_cursor": "…"}\`. Pass \`next_cursor\` as \`cursor\` to get the next page.
\`limit\` is 1 to 1000, and defaults to 100. A page of very large rows can be shorter than \`limit\`; \`has_more\` says whether there are more.

**Errors** are \`{"error": {"code", "message", "request_id", "details": [{"field", "message"}]}}\`. Use \`code\` in programs; \`message\` is for people.
Requests are checked in this order: key (401), scope (403), project (400 or 403), resources in the path (404), body (400), conflicts (409).

**Retries.** With an \`Idempotency-Key\`, a POST can be repeated safely: for 24 hours, the first response is returned again with
\`Idempotent-Replayed: true\`. Repeat it with the same bytes: JSON that means the same but was serialized differently is another request. After a 429, wait as long as \`Retry-After\` says; the \`RateLimit-*\` headers show how much is left.

**Compatibility.** Members, enumeration values and event types may be added at any time, so ignore those you do not know.
Clients that openapi-generator makes for Go and Java (\`okhttp-gson\`) reject unknown members unless they are generated with
\`--additional-properties=disallowAdditionalPropertiesIfNotPresent=false\`.

**Limits.** A body can have up to 1 MB; that of \`POST /v1/events\` 4 MB, and emails with attachments 40 MB.
`.trim(),
};
