import { DomainError, invalid } from '@postroom/platform';
import { ancestors } from '../dns/names.ts';
import type { DnsRecord } from '../records.ts';
import { CloudflareClient, CloudflareError, type CloudflareRecord } from './cloudflare-client.ts';
import { type Existing, isConflicting, type PublishingZone, type Publisher, type Step } from './plan.ts';
import { quoteText, unquoteText } from './txt.ts';

export interface CloudflareCredentials {
  /** A token that may edit the zone's DNS. */
  apiToken: string;
}

/** Prefix of the marker in our records' comments. */
const MARKER_PREFIX = 'postroom ';

/** Publishes through Cloudflare's API. `mark` is the id of the domain. */
export function cloudflare(
  { apiToken }: CloudflareCredentials,
  mark: string,
  { baseURL }: { baseURL?: string | undefined } = {},
): Publisher {
  const client = new CloudflareClient(apiToken, baseURL);
  return {
    name: 'Cloudflare',
    open: (domain, nameservers) => translateErrors(() => openZone(client, mark, domain, nameservers)),
  };
}

async function openZone(
  client: CloudflareClient,
  mark: string,
  domain: string,
  nameservers: readonly string[],
): Promise<PublishingZone> {
  for (const apex of ancestors(domain).slice(0, -1)) {
    const zones = await client.zones(apex);
    // Several accounts may have a zone of this name; use the one that is delegated to.
    const zone = zones.find(({ name_servers }) =>
      name_servers.some((server) => nameservers.includes(server.toLowerCase())),
    );
    if (zone !== undefined) return publishingZone(client, zone.id, apex, mark);
  }
  throw new DomainError('conflict', `The token has no access to a Cloudflare zone that serves ${domain}.`);
}

function publishingZone(client: CloudflareClient, zoneId: string, apex: string, mark: string): PublishingZone {
  return {
    apex,
    read: (name) => translateErrors(async () => (await client.recordsAt(zoneId, name)).map(toExisting)),
    apply: (steps) =>
      translateErrors(async () => {
        const changes = await Promise.all(steps.map(toChange));
        await client.batch(zoneId, {
          deletes: changes.flatMap(({ deletes }) => deletes),
          posts: changes.map(({ post }) => post),
        });
      }),
  };

  async function toChange({ action, record }: Step) {
    const ours =
      action === 'replace' ? (await client.recordsAt(zoneId, record.name)).filter(isReplaceable(record)) : [];
    return { deletes: ours.map(({ id }) => ({ id })), post: toPost(record, `${MARKER_PREFIX}${mark}`) };
  }
}

function toExisting(record: CloudflareRecord): Existing {
  return { type: record.type, value: valueOf(record), isOurs: record.comment?.startsWith(MARKER_PREFIX) === true };
}

function valueOf(record: CloudflareRecord): string {
  if (record.type === 'TXT') return unquoteText(record.content ?? '');
  const content = (record.content ?? '').toLowerCase();
  return record.type === 'MX' ? `${record.priority ?? 0} ${content}` : content;
}

const isReplaceable = (record: DnsRecord) => (found: CloudflareRecord) =>
  found.type === record.type && toExisting(found).isOurs && isConflicting(record, valueOf(found));

function toPost({ type, name, value }: DnsRecord, comment: string) {
  // TTL 1 means automatic.
  const base = { name, type, ttl: 1, comment };
  if (type === 'TXT') return { ...base, content: quoteText(value) };
  const [preference = '10', exchange = ''] = value.split(' ');
  return { ...base, content: exchange, priority: Number(preference) };
}

/** Translates Cloudflare's errors, which carry a status, for the user. */
async function translateErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    const { status, errors } = error instanceof CloudflareError ? error : { status: undefined, errors: [] };
    const details = errors.map(({ message }) => message).join('; ');
    // Cloudflare returns 6003 for a malformed token.
    if (status === 401 || status === 403 || errors.some(({ code }) => code === 6003)) {
      throw invalid({ field: 'cloudflare.apiToken', message: `was rejected by Cloudflare (${details})` });
    }
    if (status === undefined || status >= 500)
      throw new DomainError('conflict', 'Could not reach Cloudflare. Try again.');
    throw new DomainError('conflict', `Cloudflare rejected the records: ${details}`);
  }
}
