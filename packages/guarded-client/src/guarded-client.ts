import { Resolver } from 'node:dns/promises';
import { assertNoTransaction, guardedLookup, type Resolve, resolveBySystem, urlProblem } from '@postroom/network';
import type { AddressScope } from '@postroom/settings';
import { LRUCache } from 'lru-cache';
import { buildConnector } from 'undici';
import { type PostResponse, Exchange, type ExchangeLimits, noResponse, type Post } from './exchange.ts';
import { Origin } from './origin.ts';

/** How often connections that have been idle for too long are closed. */
const SWEEP_MS = 1_000;

export interface ClientOptions extends ExchangeLimits {
  /** Addresses that may be called. */
  scope: AddressScope;
  /** Resolves a hostname to addresses. */
  resolve?: Resolve;
  /** Additional trusted certificates, for TLS tests. */
  ca?: string;
}

/**
 * HTTP client for customer-supplied URLs. It checks addresses after DNS resolution on every connection, so DNS
 * rebinding gains nothing. It follows no redirects and keeps connections alive per origin.
 */
export interface GuardedClient {
  post: (post: Post) => Promise<PostResponse>;
  close: () => Promise<void>;
}

export function createGuardedClient(options: ClientOptions): GuardedClient {
  const { scope, deadlineMs } = options;
  const resolve = options.resolve ?? (scope === 'public' ? resolveByDns : resolveBySystem);
  const connect = buildConnector({
    allowH2: true,
    lookup: guardedLookup(() => scope, resolve),
    timeout: deadlineMs,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  const targets = new LRUCache<string, Target | string>({ max: 1_000, memoMethod: (url) => toTarget(url, scope) });
  const origins = new Map<string, Origin>();
  const sweep = setInterval(() => origins.forEach((origin) => origin.closeExpired()), SWEEP_MS);
  sweep.unref();
  const connectionsTo = ({ url, origin }: Target) => {
    const known = origins.get(origin);
    if (known !== undefined) return known;
    const created = new Origin(url, { connect, deadlineMs, onEmpty: () => origins.delete(origin) });
    origins.set(origin, created);
    return created;
  };
  return {
    post: (post) => {
      const target = targets.memo(post.url);
      if (typeof target === 'string') return Promise.resolve(noResponse(`The URL ${target}.`));
      assertNoTransaction('A webhook was posted');
      const exchange = new Exchange(target.path, post, options);
      connectionsTo(target).send(exchange);
      return exchange.response;
    },
    close: async () => {
      clearInterval(sweep);
      await Promise.all([...origins.values()].map((origin) => origin.close()));
    },
  };
}

/**
 * The target of a URL, or the problem with it. Memoized by the caller, because parsing is slow compared with the rest
 * of a POST and URLs repeat.
 */
function toTarget(text: string, scope: AddressScope): Target | string {
  const problem = urlProblem(text, scope);
  if (problem !== undefined) return problem;
  const url = new URL(text);
  return { url, origin: url.origin, path: url.pathname + url.search };
}

interface Target {
  url: URL;
  origin: string;
  path: string;
}

/** Resolves by DNS instead of getaddrinfo, whose thread pool four unresponsive names would block. */
const resolveByDns: Resolve = async (hostname) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason;
  return addresses;
};
