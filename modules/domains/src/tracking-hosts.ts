import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { config, pool } from '@postroom/platform';

/** The one list of hosts, read at most every five seconds. */
const cache = new LRUCache<'hosts', Set<string>>({
  max: 1,
  ttl: 5_000,
  ignoreFetchAbort: true,
  fetchMethod: () => readHosts(),
});

/**
 * Whether a request came through a tracking host. A host counts once its record is verified, and only below a domain
 * whose DKIM was found, so an unproven name has no effect. Only tracking is served there: a page under a sender's
 * name must not be a place to sign in.
 */
export async function isTrackingHost(hostHeader: string | undefined, ours = config.PUBLIC_URL): Promise<boolean> {
  const host = hostHeader?.toLowerCase().replace(/\.?(?::\d+)?$/, '') ?? '';
  if (!host.includes('.') || isIP(host) !== 0 || host === new URL(ours).hostname) return false;
  return (await cache.forceFetch('hosts')).has(host);
}

/** Invalidates the cache. */
export function forgetTrackingHosts(): void {
  cache.clear();
}

async function readHosts(): Promise<Set<string>> {
  const { rows } = await pool.query<{ host: string }>({
    name: 'tracking-hosts',
    text: `SELECT DISTINCT tracking_domain AS host FROM domains
      WHERE tracking_domain IS NOT NULL AND tracking = 'verified' AND dkim IN ('verified', 'failing')`,
  });
  return new Set(rows.map(({ host }) => host));
}
