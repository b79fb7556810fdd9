import { isIP } from 'node:net';
import { config, pool } from '@postroom/platform';

/** How long the hosts are known without asking again, in milliseconds. */
const FRESH_MS = 5_000;

let known: { hosts: Promise<Set<string>>; at: number } | undefined;

/**
 * Whether a request came by the tracking host of some domain. A host counts from when its record was seen, and only below a domain whose
 * DKIM record was: a name of somebody else's, set by whoever likes, changes nothing. Nothing but tracking is answered there: what recipients see
 * under a sender's own name must not be the place where people sign in.
 */
export async function isTrackingHost(hostHeader: string | undefined, ours = config.PUBLIC_URL): Promise<boolean> {
  const host = hostHeader?.toLowerCase().replace(/\.?(?::\d+)?$/, '') ?? '';
  if (!host.includes('.') || isIP(host) !== 0 || host === new URL(ours).hostname) return false;
  return (await knownHosts()).has(host);
}

/** Reads the hosts anew at the next request. */
export function forgetTrackingHosts(): void {
  known = undefined;
}

function knownHosts(): Promise<Set<string>> {
  const now = Date.now();
  if (known === undefined || now - known.at > FRESH_MS) {
    const hosts = readHosts();
    known = { hosts, at: now };
    hosts.catch(() => (known = undefined));
  }
  return known.hosts;
}

async function readHosts(): Promise<Set<string>> {
  const { rows } = await pool.query<{ host: string }>({
    name: 'tracking-hosts',
    text: `SELECT DISTINCT tracking_domain AS host FROM domains
      WHERE tracking_domain IS NOT NULL AND tracking = 'verified' AND dkim IN ('verified', 'failing')`,
  });
  return new Set(rows.map(({ host }) => host));
}
