import { isIP } from 'node:net';
import { config, pool } from '@postroom/platform';

/** Cache lifetime of the host list. */
const CACHE_TTL_MS = 5_000;

let cache: { hosts: Promise<Set<string>>; at: number } | undefined;

/**
 * Whether a request came through a tracking host. A host counts once its record is verified, and only below a domain
 * whose DKIM was found, so an unproven name has no effect. Only tracking is served there: a page under a sender's
 * name must not be a place to sign in.
 */
export async function isTrackingHost(hostHeader: string | undefined, ours = config.PUBLIC_URL): Promise<boolean> {
  const host = hostHeader?.toLowerCase().replace(/\.?(?::\d+)?$/, '') ?? '';
  if (!host.includes('.') || isIP(host) !== 0 || host === new URL(ours).hostname) return false;
  return (await cachedHosts()).has(host);
}

/** Invalidates the cache. */
export function forgetTrackingHosts(): void {
  cache = undefined;
}

function cachedHosts(): Promise<Set<string>> {
  const now = Date.now();
  if (cache === undefined || now - cache.at > CACHE_TTL_MS) {
    const hosts = readHosts();
    cache = { hosts, at: now };
    hosts.catch(() => (cache = undefined));
  }
  return cache.hosts;
}

async function readHosts(): Promise<Set<string>> {
  const { rows } = await pool.query<{ host: string }>({
    name: 'tracking-hosts',
    text: `SELECT DISTINCT tracking_domain AS host FROM domains
      WHERE tracking_domain IS NOT NULL AND tracking = 'verified' AND dkim IN ('verified', 'failing')`,
  });
  return new Set(rows.map(({ host }) => host));
}
