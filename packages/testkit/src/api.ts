import { randomBytes } from 'node:crypto';
import { type KeyScope, pool } from '@postroom/platform';
import { createApiKey, createProject } from '@postroom/projects';
import { programs } from './programs.ts';

export interface Reply {
  status: number;
  headers: Headers;
  // Tests check the shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

type SendOptions = { key?: string | null; headers?: Record<string, string>; body?: unknown };

/** A new project with a full-scope key, and an HTTP client for the gateway. */
export interface Api {
  url: string;
  projectId: string;
  key: string;
  send: (method: string, path: string, options?: SendOptions) => Promise<Reply>;
  get: (path: string, headers?: Record<string, string>) => Promise<Reply>;
  post: (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;
  patch: (path: string, body?: unknown) => Promise<Reply>;
  delete: (path: string) => Promise<Reply>;
  /** Runs a GraphQL operation; the body is `{data, errors}`. */
  graphql: (query: string, variables?: Record<string, unknown>, options?: SendOptions) => Promise<Reply>;
  /** Creates another key for this project, or for several. */
  newKey: (scope: KeyScope, projects?: 'all' | string[]) => Promise<{ id: string; key: string }>;
  contact: (email: string, more?: Record<string, unknown>) => Promise<{ id: string; email: string; name: string }>;
  /** The project's recorded events of a type, oldest first. */
  events: (type?: string) => Promise<{ id: string; type: string; data: Record<string, unknown> }[]>;
}

let gateway: Promise<{ url: string }> | undefined;

/** The gateway for tests: the real one, on a free port, started once per process. */
function startGatewayOnce(): Promise<{ url: string }> {
  gateway ??= programs().startGateway({ host: '127.0.0.1', port: 0 });
  return gateway;
}

/** Creates a project for one test, so that tests can share a database and run in parallel. */
export async function testApi(): Promise<Api> {
  const { url } = await startGatewayOnce();
  const { id: projectId } = await createProject(`Test ${randomBytes(4).toString('hex')}`);
  const { key } = await createApiKey({ name: 'test', scope: 'full', projects: [projectId] });

  const send: Api['send'] = async (method, path, options = {}) => {
    const bearer = options.key === undefined ? key : options.key;
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
        ...(options.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined
        ? {}
        : { body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };

  return {
    url,
    projectId,
    key,
    send,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, body, headers = {}) => send('POST', path, { body, headers }),
    patch: (path, body) => send('PATCH', path, { body }),
    delete: (path) => send('DELETE', path),
    graphql: (query, variables = {}, options = {}) =>
      send('POST', '/graphql', { ...options, body: { query, variables } }),
    newKey: (scope, projects = [projectId]) => createApiKey({ name: 'test', scope, projects }),
    contact: async (email, more = {}) => {
      const reply = await send('POST', '/v1/contacts', { body: { email, ...more } });
      if (reply.status !== 201) throw new Error(`The contact was not created: ${JSON.stringify(reply.body)}`);
      return reply.body.data;
    },
    events: async (type) => {
      const { rows } = await pool.query(
        'SELECT id, type, data FROM events WHERE project_id = $1 AND ($2::text IS NULL OR type = $2) ORDER BY id',
        [projectId, type ?? null],
      );
      return rows;
    },
  };
}
