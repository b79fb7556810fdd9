import type { IncomingMessage, ServerResponse } from 'node:http';
import { type DocumentNode, parse } from 'graphql';
import type { Caller } from './caller.ts';

/** What a route's reply function is given: the data its document selected. The document is checked at start. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Selected = any;

export interface Reply {
  status: number;
  body: unknown;
}

/**
 * One row of `/v1`: a path and the GraphQL document it runs. The document's variables are the request's contract, and
 * validation, conversion of names and the OpenAPI document follow from them: a variable named in the path is taken from
 * there, the others from the query of a GET or the body of a write, in snake_case. The members of a variable named
 * `input` are the body itself; `limit` and `cursor` are the page of a list, and `total` asks how long it is.
 */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Such as `/v1/groups/{id}`. */
  path: string;
  /** The key scope it takes (spec: Authentication). */
  needs: 'full' | 'sending';
  /** False when the request acts on no single project (`GET /v1/projects`), `path` when the path names it. */
  project?: 'header' | 'path' | 'none';
  /** One line for the reference. */
  summary: string;
  /** The heading it stands under in the reference. */
  tag: string;
  document: DocumentNode;
  reply: (data: Selected) => Reply;
  /** Why it is going away, and what to use instead; for the reference. */
  deprecated?: string;
  /** Whether its answer shows a secret, so that it is encrypted where it is kept for an idempotency key. */
  answersSecret?: boolean;
  /** The largest body it takes, in bytes; 1 MB unless it says. */
  maxBodyBytes?: number;
  /** An example of the body, for the reference. */
  example?: Record<string, unknown>;
  /** The status that `reply` answers with, and others it may choose; for the reference. */
  statuses?: number[];
}

/**
 * A row of `/v1` whose body or answer is too large to hold: a file that is taken in, or one that is given out. It has a function
 * where others have a document. Who may call it, limits, errors and the reference are the same.
 */
export interface StreamRoute extends Pick<Route, 'path' | 'needs' | 'project' | 'summary' | 'tag'> {
  method: 'GET' | 'POST';
  /** What the reference calls it, where others are called after their document. */
  operationId: string;
  description: string;
  /** The GraphQL input type whose members are the parameters of the query, in snake_case. */
  options?: string;
  /** The bodies that it takes, by media type, as JSON Schemas; `{ $ref: 'options' }` stands for the options as an object. */
  takes?: Record<string, Record<string, unknown>>;
  /** What it answers with: the status and the schema of its body by media type. */
  answers: { status: number; description: string; content: Record<string, Record<string, unknown>> };
  answer: (exchange: StreamExchange) => Promise<Reply | undefined>;
}

/** A request to a route that streams, and what it is answered with. */
export interface StreamExchange {
  caller: Caller;
  projectId: string;
  /** The parameters of the path. */
  params: Record<string, string>;
  /** The query's parameters, read as the members of the options. */
  options: Record<string, unknown>;
  /**
   * Reads options from a JSON value, as the body of another route is read.
   * @throws DomainError `validation_error` naming each member that is wrong.
   */
  readOptions: (value: unknown) => Record<string, unknown>;
  /** The bytes of the body come from here. */
  request: IncomingMessage;
  /** What the handler writes itself goes here, and then it returns no reply. */
  response: ServerResponse;
  /**
   * Does what the request asks for, once for each `Idempotency-Key`; `fingerprint` tells the request from others.
   * @throws DomainError `idempotency_conflict`.
   */
  once: (fingerprint: Buffer, work: () => Promise<Reply>) => Promise<Reply>;
}

/** Marks GraphQL text for editors and parses it once, when the module is loaded. */
export function gql(strings: TemplateStringsArray, ...parts: string[]): DocumentNode {
  return parse(String.raw({ raw: strings }, ...parts), { noLocation: true });
}

/** `{data: …}` of one root field, with 200. */
export const found =
  (field: string) =>
  (data: Selected): Reply => ({ status: 200, body: { data: data[field] } });

/** `{data: …}` of one root field, with 201. */
export const created =
  (field: string) =>
  (data: Selected): Reply => ({ status: 201, body: { data: data[field] } });

/** `{deleted: true}` (spec: What the service does). */
export const deleted = () => (): Reply => ({ status: 200, body: { deleted: true } });

/**
 * A page of a connection: `{data, has_more, next_cursor}`, and `total` if it was asked for. The document selects `nodes`,
 * `pageInfo` and, with `@include(if: $total)`, `totalCount`.
 */
export const page =
  (field: string) =>
  (data: Selected): Reply => {
    const { nodes, pageInfo, totalCount } = data[field];
    return {
      status: 200,
      body: {
        data: nodes,
        has_more: pageInfo.hasNextPage,
        next_cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null,
        ...(totalCount === undefined ? {} : { total: totalCount }),
      },
    };
  };

const snakeNames = new Map<string, string>();

/** `contactIds` → `contact_ids`: requests of `/v1` are in snake_case, GraphQL is not. */
export function snakeCase(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}

/** What GraphQL calls otherwise than `/v1`. */
const RENAMED = new Map([
  ['first', 'limit'],
  ['after', 'cursor'],
]);

/**
 * A path of GraphQL as `/v1` names it: `contacts.3.customFields.ageYears` → `contacts.3.custom_fields.ageYears`. Only
 * names of ours change: the first, and one after an index; keys inside a JSON value stay as the caller wrote them.
 */
export function restPath(path: string): string {
  const segments = path.split('.');
  return segments
    .map((segment, index) => {
      const ours = index === 0 || /^\d+$/.test(segments[index - 1] ?? '');
      return ours ? (RENAMED.get(segment) ?? snakeCase(segment)) : segment;
    })
    .join('.');
}
