// The requests that publishing needs from Cloudflare's API v4. The official client would add 120 MB to an installation.
import { setTimeout as sleep } from 'node:timers/promises';
import { config, guardedFetch } from '@postroom/platform';

const API_URL = 'https://api.cloudflare.com/client/v4';
const TIMEOUT_MS = 15_000;
/** Delay before the single retry, unless the response states another. */
const RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

export interface CloudflareZone {
  id: string;
  name_servers: string[];
}

export interface CloudflareRecord {
  id: string;
  type: string;
  name: string;
  content?: string;
  priority?: number;
  comment?: string | null;
}

export interface NewCloudflareRecord extends Omit<CloudflareRecord, 'id'> {
  ttl: number;
}

interface ReportedError {
  code?: number;
  message?: string;
}

/** A request that Cloudflare did not fulfil. `status` is undefined if it did not answer as its API does. */
export class CloudflareError extends Error {
  readonly status: number | undefined;
  readonly errors: readonly ReportedError[];

  constructor(status: number | undefined, errors: readonly ReportedError[]) {
    super(`Cloudflare answered with ${status}: ${errors.map(({ message }) => message).join('; ')}`);
    this.status = status;
    this.errors = errors;
  }
}

interface Reply {
  result?: unknown;
  errors?: ReportedError[] | null;
}

/** Rejects with a CloudflareError, or with a network error. */
export class CloudflareClient {
  readonly #apiToken: string;
  readonly #baseURL: string;

  /** The base URL can be set with CLOUDFLARE_BASE_URL, as for Cloudflare's own client. */
  constructor(apiToken: string, baseURL = process.env.CLOUDFLARE_BASE_URL ?? API_URL) {
    this.#apiToken = apiToken;
    this.#baseURL = baseURL;
  }

  zones(name: string): Promise<CloudflareZone[]> {
    return this.#request('GET', `/zones?${new URLSearchParams({ name }).toString()}`);
  }

  recordsAt(zoneId: string, name: string): Promise<CloudflareRecord[]> {
    const query = new URLSearchParams({ 'name.exact': name, per_page: '100' });
    return this.#request('GET', `/zones/${zoneId}/dns_records?${query.toString()}`);
  }

  /** Cloudflare applies a batch in one transaction, deletions first. */
  async batch(zoneId: string, changes: { deletes: { id: string }[]; posts: NewCloudflareRecord[] }): Promise<void> {
    await this.#request('POST', `/zones/${zoneId}/dns_records/batch`, changes);
  }

  /** Retries once if there was no response, or one that says to try again. */
  async #request<Result>(method: string, path: string, body?: object): Promise<Result> {
    let response = await this.#send(method, path, body).catch(() => undefined);
    if (response === undefined || isTransient(response.status)) {
      await response?.body?.cancel();
      await sleep(retryDelayMs(response?.headers.get('retry-after')));
      response = await this.#send(method, path, body);
    }
    const { ok, status } = response;
    const reply = (await response.json().catch(() => undefined)) as Reply | null | undefined;
    if (ok && reply?.result !== undefined) return reply.result as Result;
    throw new CloudflareError(ok ? undefined : status, reply?.errors ?? []);
  }

  #send(method: string, path: string, body: object | undefined) {
    return guardedFetch(this.#baseURL + path, config.providerScope, {
      method,
      headers: { Authorization: `Bearer ${this.#apiToken}`, 'Content-Type': 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}

const isTransient = (status: number) => status === 408 || status === 409 || status === 429 || status >= 500;

function retryDelayMs(retryAfter: string | null | undefined): number {
  const seconds = Number.parseFloat(retryAfter ?? '');
  return Number.isNaN(seconds) ? RETRY_MS : Math.min(seconds * 1000, MAX_RETRY_MS);
}
