import { errorOf, PostroomError } from './errors.ts';
import { webCrypto } from './runtime.ts';
import { OPERATIONS, type Operations } from './types.ts';

export interface ClientOptions {
  /** A secret API key, `pr_…`. Use it only on servers. */
  apiKey: string;
  /** The URL of Postroom, such as `https://mail.example.com`. */
  baseUrl: string;
  /** The project to act on; required when the key covers several. */
  projectId?: string | undefined;
  /** The maximum number of retries after a network error, a 429 or a 5xx. Defaults to 3. */
  maxRetries?: number | undefined;
  /** The timeout of one attempt, in milliseconds. Defaults to 30,000. */
  timeoutMs?: number | undefined;
  /** A replacement for the runtime's `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** Options of a single request. */
export interface RequestOptions {
  /** The project to act on, instead of the client's. */
  projectId?: string | undefined;
  /** Identifies a POST so that it runs only once. Defaults to a random key. */
  idempotencyKey?: string | undefined;
  /** Aborts the request. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
}

export type OperationId = keyof Operations;

/** An operation as its method and path, such as `GET /v1/contacts/{id}`. */
export type OperationRoute = (typeof OPERATIONS)[OperationId];

/** The id of an operation given by id, or by method and path. */
export type IdOf<Key extends OperationId | OperationRoute> = Key extends OperationId
  ? Key
  : { [Id in OperationId]: (typeof OPERATIONS)[Id] extends Key ? Id : never }[OperationId];

type Nothing = Record<never, never>;

/** A member that is optional if nothing in it is required, and absent if it has no type. */
type Member<Name extends string, Value> = [Value] extends [undefined]
  ? { [Key in Name]?: undefined }
  : [keyof Value] extends [never]
    ? { [Key in Name]?: undefined }
    : Nothing extends Value
      ? { [Key in Name]?: Value | undefined }
      : { [Key in Name]: Value };

/** The input of an operation: its path, query and body. */
export type InputOf<Id extends OperationId> = Member<'path', Operations[Id]['path']> &
  Member<'query', Operations[Id]['query']> &
  Member<'body', Operations[Id]['body']>;

/** The arguments after the operation; optional when no input is required. */
export type CallArguments<Id extends OperationId> =
  Nothing extends InputOf<Id>
    ? [input?: InputOf<Id>, options?: RequestOptions]
    : [input: InputOf<Id>, options?: RequestOptions];

/** The input of an operation in untyped form. */
export interface Input {
  path?: object | undefined;
  query?: object | undefined;
  body?: unknown;
}

/** The longest `Retry-After` to wait for; with a longer one the server is down, and the caller should know. */
const MAX_RETRY_AFTER_MS = 60_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;

/** Sends requests, and retries them when that is safe and useful. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #baseUrl: string;

  constructor(options: ClientOptions) {
    if (!options.apiKey) throw new TypeError('apiKey is required: new Postroom({ apiKey, baseUrl }).');
    if (!options.baseUrl) throw new TypeError('baseUrl is required, such as https://mail.example.com.');
    if (!/^https?:\/\/./i.test(options.baseUrl))
      throw new TypeError(`baseUrl must begin with https:// or http://, not be "${options.baseUrl}".`);
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
  }

  /** Runs an API operation and returns the response body; a file is returned as a stream. */
  async call<Id extends OperationId>(
    id: Id,
    input: Input,
    options: RequestOptions = {},
  ): Promise<Operations[Id]['reply']> {
    const [method = '', template = ''] = OPERATIONS[id].split(' ');
    const url = this.#baseUrl + fillPath(template, { ...input.path }) + queryOf({ ...input.query });
    const headers = await this.#headers(method, input.body, options);
    // Throws for a key that no header can contain. `fetch` would too, but as if there were no connection.
    void new Headers(headers);
    const body = bodyOf(input.body);
    return (await this.#send(url, { method, headers, body }, options)) as Operations[Id]['reply'];
  }

  async #headers(method: string, body: unknown, options: RequestOptions): Promise<Record<string, string>> {
    const projectId = options.projectId ?? this.#options.projectId;
    return {
      Authorization: `Bearer ${this.#options.apiKey}`,
      Accept: 'application/json, text/csv',
      'User-Agent': 'postroom-typescript',
      // fetch sets the form's content type with its boundary.
      ...(body === undefined || body instanceof FormData ? {} : { 'Content-Type': 'application/json' }),
      ...(projectId === undefined ? {} : { 'X-Project-Id': projectId }),
      // All attempts share one key, so that a request whose response was lost does not run twice.
      ...(method === 'POST' ? { 'Idempotency-Key': options.idempotencyKey ?? (await webCrypto()).randomUUID() } : {}),
    };
  }

  async #send(url: string, init: RequestInit, options: RequestOptions): Promise<unknown> {
    const retries = options.maxRetries ?? this.#options.maxRetries ?? 3;
    /** Of the first attempt that may have been carried out, although it failed. */
    let lost: PostroomError | undefined;
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(url, init, options);
      if ('body' in outcome) return outcome.body;
      const { error, retryAfterMs } = outcome;
      // The attempt whose response was lost has deleted it.
      if (init.method === 'DELETE' && lost !== undefined && error.status === 404) return { deleted: true };
      // The conflict may be with that attempt. Reported as a conflict, the caller would merge its change with itself.
      if (init.method === 'PATCH' && lost !== undefined && isVersionConflict(error)) throw lost;
      if (attempt >= retries || !isRetryable(error) || (retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) throw error;
      if (error.status === undefined || error.status >= 500) lost ??= error;
      await sleep(retryAfterMs ?? backoffMs(attempt), options.signal);
    }
  }

  async #attempt(url: string, init: RequestInit, options: RequestOptions): Promise<Outcome> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), options.timeoutMs ?? this.#options.timeoutMs ?? 30_000);
    // Node 18 has no AbortSignal.any.
    const abort = () => timeout.abort();
    if (options.signal?.aborted === true) abort();
    options.signal?.addEventListener('abort', abort, { once: true });
    let streaming = false;
    const send = this.#options.fetch ?? globalThis.fetch;
    try {
      // `fetch` would follow a redirect without the API key, and turn a POST into a GET.
      const response = await send(url, { ...init, redirect: 'manual', signal: timeout.signal });
      // Downloads take as long as their reader, so the timeout does not apply.
      if (response.ok && isFile(response)) {
        streaming = true;
        return { body: response.body };
      }
      const text = await response.text();
      if (!response.ok) return { error: errorOf(response, text), retryAfterMs: retryAfter(response) };
      return parsedBody(response, text);
    } catch (cause) {
      if (options.signal?.aborted === true) throw options.signal.reason;
      return { error: connectionError(cause, timeout.signal) };
    } finally {
      clearTimeout(timer);
      if (!streaming) options.signal?.removeEventListener('abort', abort);
    }
  }
}

function bodyOf(body: unknown): string | FormData | null {
  if (body === undefined) return null;
  return body instanceof FormData ? body : JSON.stringify(body);
}

type Outcome = { body: unknown } | { error: PostroomError; retryAfterMs?: number | undefined };

const isFile = ({ headers }: Response) => headers.get('content-type')?.startsWith('text/csv') === true;

function parsedBody(response: Response, text: string): Outcome {
  try {
    return { body: JSON.parse(text) };
  } catch {
    return { error: errorOf(response, text) };
  }
}

function connectionError(cause: unknown, timeout: AbortSignal): PostroomError {
  return timeout.aborted
    ? new PostroomError({ code: 'timeout', message: 'The request timed out.', cause })
    : new PostroomError({ code: 'network_error', message: 'Postroom could not be reached.', cause });
}

/** Whether the same request may succeed on retry. */
function isRetryable({ code, status, details }: PostroomError): boolean {
  if (status === undefined || status === 429 || status >= 500) return true;
  // The first request with the key is in flight: a later attempt gets its response.
  return code === 'idempotency_conflict' && details.some(({ reason }) => reason === 'in_flight');
}

/** Whether a change named a version that is out of date. */
const isVersionConflict = ({ status, details }: PostroomError): boolean =>
  status === 409 && details.some(({ field }) => field === 'version' || field === 'updated_at');

/** `Retry-After` in milliseconds; the header contains seconds or a date. */
function retryAfter(response: Response): number | undefined {
  const value = response.headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

/** Exponential backoff with jitter. */
function backoffMs(attempt: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** attempt, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2);
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

function fillPath(template: string, path: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    // An empty id would address the whole list.
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a non-empty string.`);
    // URLs resolve these segments even if they are encoded: removing a contact from the group `..` would delete the contact.
    if (value === '.' || value === '..') throw new TypeError(`${name} must be an id, not ${value}.`);
    return encodeURIComponent(value);
  });
}

function queryOf(query: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const item of Array.isArray(value) ? value : [value]) params.append(name, queryValue(item));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Formats dates as instants and objects as JSON. */
function queryValue(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
}
