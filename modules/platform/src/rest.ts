import type { IncomingMessage, ServerResponse } from 'node:http';
import { type DocumentNode, parse } from 'graphql';
import type { Caller } from './caller.ts';

export interface Reply {
  status: number;
  body: unknown;
}

/** A member of what a route's document selects: names joined by dots, such as `createContact.contact`. */
export type SelectionPath = string;

/** The response of a route, declared as data: the facade builds responses from it, and the OpenAPI document describes them from it. */
export type ReplyShape = DataReply | PageReply | DeletedReply;

/** `{data: …}`. */
export interface DataReply extends DataOptions {
  kind: 'data';
  status: number;
  /** The member that becomes `data`; or the members of an object, each a selected member or a constant. */
  data: SelectionPath | Record<string, SelectionPath | { constant: string }>;
}

export interface DataOptions {
  /** A boolean; the status is 201 where it is true. */
  createdIf?: SelectionPath;
  /** Members added to those of `data`. */
  merged?: Record<string, SelectionPath>;
  /** Members of the response next to `data`. */
  beside?: Record<string, SelectionPath>;
  /** Members of the rows of `data` that are omitted where they are null. */
  omitNull?: readonly string[];
  /**
   * Where `data` has problems, which are objects with a `field` and a `message`, and how the name of such a field is converted to
   * `/v1`. Messages are converted too. A list on the way stands for each of its rows.
   */
  problems?: Record<SelectionPath, (field: string) => string>;
}

/** A page of a connection: `{data, has_more, next_cursor}`, and `total` if requested. The document selects `nodes` and `PAGE`. */
export interface PageReply {
  kind: 'page';
  connection: SelectionPath;
}

/** `{deleted: true}` (spec: What the service does). */
export interface DeletedReply {
  kind: 'deleted';
  /** A count; where it is 0, the response is `not_found` with this message. */
  unless?: { count: SelectionPath; message: string };
}

/**
 * One route of `/v1`: a path and the GraphQL document it runs. The document's variables define the request;
 * validation, name conversion and OpenAPI derive from them. A variable named in the path is read from there, the
 * others from the query of a GET or the body of a write, in snake_case. The members of a variable named `input` are
 * the body itself. `limit` and `cursor` paginate a list, and `total` requests its length.
 */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Such as `/v1/groups/{id}`. */
  path: string;
  /** The required key scope (spec: Authentication). */
  needs: 'full' | 'sending';
  /** `none` if the request acts on no single project (`GET /v1/projects`); `path` if the path names it. */
  project?: 'header' | 'path' | 'none';
  /** One-line summary for the API reference. */
  summary: string;
  /** Section heading in the API reference. */
  tag: string;
  document: DocumentNode;
  reply: ReplyShape;
  /**
   * Why the row in the path is in the wrong state for this route, from the `data` of its GET route. A request that is
   * invalid as well is then a `conflict`, where other routes answer `validation_error`.
   */
  stateProblem?: (row: Record<string, unknown>) => string | undefined;
  /**
   * Errors beyond those of its method and path, for the API reference: `not_found` for an id in the query or the body, `conflict` of
   * a DELETE.
   */
  errors?: readonly ('not_found' | 'conflict')[];
  /** Deprecation reason and replacement, for the API reference. */
  deprecated?: string;
  /** Whether the response contains a secret, so that the stored idempotency response is encrypted. */
  answersSecret?: boolean;
  /** Maximum body size in bytes; 1 MB by default. */
  maxBodyBytes?: number;
  /** Whether the work commits the response of a request with an `Idempotency-Key`, by `context.claim`. */
  commitsResponse?: boolean;
  /** Its statements are those of many requests at once, so more of them may run at the same time. */
  sharesStatements?: boolean;
  /** An example body, for the API reference. */
  example?: Record<string, unknown>;
}

/**
 * A `/v1` route with a body or response too large for memory: an upload or a download. It has a handler instead of
 * a document. Authorization, limits, errors and the API reference work as for other routes.
 */
export interface StreamRoute extends Pick<Route, 'path' | 'needs' | 'project' | 'summary' | 'tag' | 'errors'> {
  method: 'GET' | 'POST';
  /** Name in the API reference; other routes are named after their document. */
  operationId: string;
  description: string;
  /** The GraphQL input type whose members are the query parameters, in snake_case. */
  options?: string;
  /** Accepted bodies by media type, as JSON Schemas; `{ $ref: 'options' }` stands for the options as an object. */
  takes?: Record<string, Record<string, unknown>>;
  /** The response: status, and body schema by media type. */
  answers: { status: number; description: string; content: Record<string, Record<string, unknown>> };
  answer: (exchange: StreamExchange) => Promise<Reply | undefined>;
}

/** A request to a streaming route, and the means to respond. */
export interface StreamExchange {
  caller: Caller;
  projectId: string;
  /** Path parameters. */
  params: Record<string, string>;
  /** Query parameters, parsed as the members of the options. */
  options: Record<string, unknown>;
  /**
   * Parses options from a JSON value, like the body of any other route.
   * @throws DomainError `validation_error` naming each invalid member.
   */
  readOptions: (value: unknown) => Record<string, unknown>;
  /** The body's byte stream. */
  request: IncomingMessage;
  /** The response stream, for handlers that write it themselves and return no reply. */
  response: ServerResponse;
  /**
   * Executes the request once per `Idempotency-Key`; `fingerprint` distinguishes it from other requests.
   * @throws DomainError `idempotency_conflict`.
   */
  once: (fingerprint: Buffer, work: () => Promise<Reply>) => Promise<Reply>;
}

/** Parses GraphQL text once, when the module loads. The tag enables editor support. */
export function gql(strings: TemplateStringsArray, ...parts: string[]): DocumentNode {
  return parse(String.raw({ raw: strings }, ...parts), { noLocation: true });
}

const dataReply =
  (status: number) =>
  (data: DataReply['data'], options?: DataOptions): DataReply => ({ kind: 'data', status, data, ...options });

/** 200 with `{data: …}`. */
export const found = dataReply(200);

/** 201 with `{data: …}`. */
export const created = dataReply(201);

/** 202 with `{data: …}`: the rest is done in the background. */
export const accepted = dataReply(202);

export const page = (connection: SelectionPath): PageReply => ({ kind: 'page', connection });

/** The variables of a document that `page` answers. They paginate a connection by `first: $limit, after: $cursor`. */
export const PAGE_ARGS = '$limit: Int, $cursor: String, $total: Boolean = false';
/** What such a document selects of the connection besides `nodes`. */
export const PAGE = 'totalCount @include(if: $total) pageInfo { hasNextPage endCursor }';

export const deleted = (unless?: DeletedReply['unless']): DeletedReply => ({
  kind: 'deleted',
  ...(unless === undefined ? {} : { unless }),
});

/** The document and the reply of a route that deletes the row in its path by a `removalMutation`. */
export const deletes = (operation: string, mutation: string): Pick<Route, 'document' | 'reply'> => ({
  document: gql`mutation ${operation}($id: ID!) { ${mutation}(id: $id) { deletedId } }`,
  reply: deleted(),
});

const snakeNames = new Map<string, string>();

/** `contactIds` → `contact_ids`: GraphQL uses camelCase, `/v1` snake_case. */
export function snakeCase(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}

/** Names that differ between GraphQL and `/v1`. */
const RENAMED = new Map([
  ['first', 'limit'],
  ['after', 'cursor'],
]);

/** JSON values whose keys are the caller's own. The members of others, such as filters and definitions, have our names. */
const WITH_KEYS_OF_CALLERS = new Set(['customFields', 'headers', 'metadata', 'properties', 'search', 'variables']);

/**
 * Converts a GraphQL path to `/v1` names: `contacts.3.customFields.ageYears` → `contacts.3.custom_fields.ageYears`.
 * Keys that the caller chose stay as they are.
 */
export function restPath(path: string): string {
  const segments = path.split('.');
  const container = segments.findIndex(
    // A list, such as the properties of a definition, has no keys.
    (segment, index) => WITH_KEYS_OF_CALLERS.has(segment) && !/^\d+$/.test(segments[index + 1] ?? ''),
  );
  const ours = container === -1 ? segments.length : container + 1;
  return segments
    .map((segment, index) => (index < ours ? (RENAMED.get(segment) ?? snakeCase(segment)) : segment))
    .join('.');
}
