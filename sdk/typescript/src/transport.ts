import { errorOf, PostroomError } from './errors.ts';
import { webCrypto } from './runtime.ts';
import { OPERATIONS, type Operations } from './types.ts';

export interface ClientOptions {
  /** A secret API key, `pr_…`. Keep it on servers. */
  apiKey: string;
  /** Where Postroom is, such as `https://mail.example.com`. */
  baseUrl: string;
  /** The project to act on; needed when the key covers several. */
  projectId?: string | undefined;
  /** How often a request that failed on the way, or was refused for the moment, is sent again. 3 unless you say. */
  maxRetries?: number | undefined;
  /** How long one attempt may take, in milliseconds. 30,000 unless you say. */
  timeoutMs?: number | undefined;
  /** Another `fetch` than the runtime's. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** What may be said about one request. */
export interface RequestOptions {
  /** The project to act on, instead of the client's. */
  projectId?: string | undefined;
  /** Of a POST: what stands for this request, so that it is done once. A random one unless you say. */
  idempotencyKey?: string | undefined;
  /** Gives the request up. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
}

export type OperationId = keyof Operations;

/** An operation as its method and path, such as `GET /v1/contacts/{id}`. */
export type OperationRoute = (typeof OPERATIONS)[OperationId];

/** The id of an operation that is given by its id, or by its method and path. */
export type IdOf<Key extends OperationId | OperationRoute> = Key extends OperationId
  ? Key
  : { [Id in OperationId]: (typeof OPERATIONS)[Id] extends Key ? Id : never }[OperationId];

type Nothing = Record<never, never>;

/** A member that may be left out when nothing in it is required, and must be when there is none. */
type Member<Name extends string, Value> = [Value] extends [undefined]
  ? { [Key in Name]?: undefined }
  : [keyof Value] extends [never]
    ? { [Key in Name]?: undefined }
    : Nothing extends Value
      ? { [Key in Name]?: Value | undefined }
      : { [Key in Name]: Value };

/** What an operation takes: its path, query and body. */
export type InputOf<Id extends OperationId> = Member<'path', Operations[Id]['path']> &
  Member<'query', Operations[Id]['query']> &
  Member<'body', Operations[Id]['body']>;

/** What follows the operation in a call: an input that needs nothing may be left out. */
export type CallArguments<Id extends OperationId> =
  Nothing extends InputOf<Id>
    ? [input?: InputOf<Id>, options?: RequestOptions]
    : [input: InputOf<Id>, options?: RequestOptions];

/** What an operation takes, as the parts of the client give it. */
export interface Input {
  path?: object | undefined;
  query?: object | undefined;
  body?: unknown;
}

/** The longest that `Retry-After` is waited for; a server that asks for more is down, and the caller should know. */
const MAX_RETRY_AFTER_MS = 60_000;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8_000;

/** Sends requests, and sends them again where that is safe and may help. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #baseUrl: string;

  constructor(options: ClientOptions) {
    if (!options.apiKey) throw new TypeError('Postroom needs an apiKey: new Postroom({ apiKey, baseUrl }).');
    if (!options.baseUrl) throw new TypeError('Postroom needs a baseUrl, such as https://mail.example.com.');
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
  }

  /** Runs an operation of the API and returns the body of its answer; a file is a stream, read as it arrives. */
  async call<Id extends OperationId>(
    id: Id,
    input: Input,
    options: RequestOptions = {},
  ): Promise<Operations[Id]['reply']> {
    const [method = '', template = ''] = OPERATIONS[id].split(' ');
    const url = this.#baseUrl + filled(template, { ...input.path }) + queryOf({ ...input.query });
    const headers = await this.#headers(method, input.body, options);
    const body = bodyOf(input.body);
    return (await this.#send(url, { method, headers, body }, options)) as Operations[Id]['reply'];
  }

  async #headers(method: string, body: unknown, options: RequestOptions): Promise<Record<string, string>> {
    const projectId = options.projectId ?? this.#options.projectId;
    return {
      Authorization: `Bearer ${this.#options.apiKey}`,
      Accept: 'application/json, text/csv',
      'User-Agent': 'postroom-typescript',
      // A form says itself how its parts are told apart.
      ...(body === undefined || body instanceof FormData ? {} : { 'Content-Type': 'application/json' }),
      ...(projectId === undefined ? {} : { 'X-Project-Id': projectId }),
      // One key for all attempts, so that a request whose answer was lost is not done again.
      ...(method === 'POST' ? { 'Idempotency-Key': options.idempotencyKey ?? (await webCrypto()).randomUUID() } : {}),
    };
  }

  async #send(url: string, init: RequestInit, options: RequestOptions): Promise<unknown> {
    const retries = options.maxRetries ?? this.#options.maxRetries ?? 3;
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(url, init, options);
      if ('body' in outcome) return outcome.body;
      const { error, retryAfterMs } = outcome;
      // A DELETE that is sent again and finds nothing was done the first time.
      if (init.method === 'DELETE' && attempt > 0 && error.status === 404) return { deleted: true };
      if (attempt >= retries || !mayRetry(error) || (retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) throw error;
      await wait(retryAfterMs ?? backoffMs(attempt), options.signal);
    }
  }

  async #attempt(url: string, init: RequestInit, options: RequestOptions): Promise<Outcome> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), options.timeoutMs ?? this.#options.timeoutMs ?? 30_000);
    // Node 18 has no AbortSignal.any.
    const giveUp = () => timeout.abort();
    if (options.signal?.aborted === true) giveUp();
    options.signal?.addEventListener('abort', giveUp, { once: true });
    let keepsReading = false;
    const send = this.#options.fetch ?? globalThis.fetch;
    try {
      const response = await send(url, { ...init, signal: timeout.signal });
      // A file takes as long as its reader does.
      if (response.ok && isFile(response)) {
        keepsReading = true;
        return { body: response.body };
      }
      const text = await response.text();
      if (!response.ok) return { error: errorOf(response, text), retryAfterMs: retryAfter(response) };
      return parsedBody(response, text);
    } catch (cause) {
      if (options.signal?.aborted === true) throw options.signal.reason;
      return { error: unanswered(cause, timeout.signal) };
    } finally {
      clearTimeout(timer);
      if (!keepsReading) options.signal?.removeEventListener('abort', giveUp);
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

function unanswered(cause: unknown, timeout: AbortSignal): PostroomError {
  return timeout.aborted
    ? new PostroomError({ code: 'timeout', message: 'Postroom did not answer in time.', cause })
    : new PostroomError({ code: 'network_error', message: 'Postroom could not be reached.', cause });
}

/** Whether the same request may go better a little later. */
function mayRetry({ code, status, details }: PostroomError): boolean {
  if (status === undefined || status === 429 || status >= 500) return true;
  // The first request with the key is still running: the next attempt gets its answer.
  return code === 'idempotency_conflict' && details.some(({ reason }) => reason === 'in_flight');
}

/** `Retry-After` in milliseconds: it is seconds, or a date. */
function retryAfter(response: Response): number | undefined {
  const value = response.headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

/** Twice as long each time, and never the same for two clients. */
function backoffMs(attempt: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** attempt, MAX_WAIT_MS) * (0.5 + Math.random() / 2);
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const giveUp = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    }, ms);
    signal?.addEventListener('abort', giveUp, { once: true });
  });
}

function filled(template: string, path: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    // An empty id would name the whole list.
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a non-empty string.`);
    return encodeURIComponent(value);
  });
}

function queryOf(query: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) params.append(name, queryValue(one));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Dates are instants, and an object in a query is JSON. */
function queryValue(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
}
