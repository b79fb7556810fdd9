import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-sse';

/** An error response of the API. */
class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, request: string, { code = 'unknown', message = 'no message', details = [] }: ErrorBody) {
    const fields = details.map((detail) => `${detail.field} ${detail.message}`);
    super(
      `${request} returned ${status} ${code}: ${[message, ...fields.filter((field) => !message.includes(field))].join('; ')}`,
    );
    this.status = status;
    this.code = code;
  }
}

interface ErrorBody {
  code?: string;
  message?: string;
  details?: { field: string; message: string }[];
}

/** A page of a list. */
interface Page<T> {
  data: T[];
  has_more: boolean;
  next_cursor: string | null;
}

/** How long to retry while the gateway is unreachable or busy. */
const RETRY_FOR_MS = 60_000;
const RETRY_DELAY_MS = 500;
const REQUEST_TIMEOUT_MS = 30_000;

/** Calls the public API as an integrator does. A POST carries an Idempotency-Key, so that retries are safe. */
export class Client {
  readonly #url: string;
  readonly #key: string;
  readonly #stopped: AbortSignal;

  constructor(url: string, key: string, stopped: AbortSignal) {
    this.#url = url;
    this.#key = key;
    this.#stopped = stopped;
  }

  get = <T>(path: string) => this.#send<T>('GET', path);
  post = <T>(path: string, body?: unknown) => this.#send<T>('POST', path, body ?? {});
  patch = <T>(path: string, body: unknown) => this.#send<T>('PATCH', path, body);
  delete = (path: string) => this.#send<{ deleted: true }>('DELETE', path);

  /** Sends a CSV file, with its options in the query. */
  async upload<T>(path: string, file: string, options: Record<string, string>): Promise<T> {
    const request = `${path}?${new URLSearchParams(options)}`;
    const headers = { Authorization: `Bearer ${this.#key}`, 'Content-Type': 'text/csv' };
    const answer = await this.#try('POST', request, { method: 'POST', headers, body: file, signal: this.#stopped });
    if ('data' in answer) return (answer.data as { data: T }).data;
    throw answer.error;
  }

  /** Every row of a list, page by page. */
  async *list<T>(path: string): AsyncGenerator<T> {
    let cursor: string | null = null;
    do {
      const query: string = `${path.includes('?') ? '&' : '?'}limit=1000${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
      const page = await this.get<Page<T>>(path + query);
      yield* page.data;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  /** Passes each value of a GraphQL subscription to `take`; returns a function that ends it. Reconnects when the connection breaks. */
  subscribe<T>(query: string, variables: Record<string, unknown>, take: (data: T) => void): () => void {
    const client = createClient({
      url: `${this.#url}/graphql/stream`,
      headers: { Authorization: `Bearer ${this.#key}` },
      retryAttempts: 1000,
    });
    const stop = client.subscribe<T>(
      { query, variables },
      // The caller also polls the state, so a subscription that ends early is no error.
      { next: ({ data }) => data && take(data), error: () => {}, complete: () => {} },
    );
    return () => {
      stop();
      client.dispose();
    };
  }

  async #send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = {
      Authorization: `Bearer ${this.#key}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(method === 'POST' && { 'Idempotency-Key': randomUUID() }),
    };
    const giveUpAt = Date.now() + RETRY_FOR_MS;
    for (;;) {
      const signal = AbortSignal.any([this.#stopped, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
      const answer = await this.#try(method, path, { method, headers, signal, body: body && JSON.stringify(body) });
      if ('data' in answer) return answer.data as T;
      if (Date.now() > giveUpAt || this.#stopped.aborted || !answer.mayPass) throw answer.error;
      await sleep(answer.pauseMs, undefined, { signal: this.#stopped });
    }
  }

  async #try(method: string, path: string, init: object): Promise<{ data: unknown } | Failure> {
    try {
      const response = await fetch(this.#url + path, init);
      const text = await response.text();
      if (response.ok) return { data: text === '' ? undefined : JSON.parse(text) };
      const error = new ApiError(response.status, `${method} ${path}`, errorBody(text));
      const mayPass = response.status === 429 || response.status >= 500 || error.code === 'idempotency_conflict';
      return { error, mayPass, pauseMs: Number(response.headers.get('Retry-After')) * 1000 || RETRY_DELAY_MS };
    } catch (error) {
      return {
        error: new Error(`${method} ${path} got no response`, { cause: error }),
        mayPass: true,
        pauseMs: RETRY_DELAY_MS,
      };
    }
  }
}

interface Failure {
  error: Error;
  /** The same request may succeed later. */
  mayPass: boolean;
  pauseMs: number;
}

function errorBody(text: string): ErrorBody {
  try {
    return (JSON.parse(text) as { error: ErrorBody }).error;
  } catch {
    return { message: text.slice(0, 200) };
  }
}
