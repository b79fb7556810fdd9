import { config, DomainError, guardedFetch, invalid } from '@postroom/platform';
import { ancestors } from '../dns/names.ts';
import type { DnsRecord } from '../records.ts';
import { type Existing, isConflicting, type PublishingZone, type Publisher, type Step } from './plan.ts';
import { quoteText, unquoteText } from './txt.ts';

export interface CloudflareCredentials {
  /** A token that may edit the zone's DNS. */
  apiToken: string;
}

/** Prefix of the marker in our records' comments. */
const MARKER_PREFIX = 'postroom ';

/** Publishes through Cloudflare's official client. `mark` is the id of the domain. */
export async function cloudflare(
  { apiToken }: CloudflareCredentials,
  mark: string,
  { baseURL }: { baseURL?: string | undefined } = {},
): Promise<Publisher> {
  const client = await createClient(apiToken, baseURL);
  return {
    name: 'Cloudflare',
    open: (domain, nameservers) => translateErrors(() => openZone(client, mark, domain, nameservers)),
  };
}

/** Loaded on demand and in part, because the client is large and rarely needed. */
async function createClient(apiToken: string, baseURL: string | undefined) {
  const [{ createClient: create }, { BaseZones }, { BaseRecords }] = await Promise.all([
    import('cloudflare/tree-shakable'),
    import('cloudflare/resources/zones/zones'),
    import('cloudflare/resources/dns/records'),
  ]);
  const options = baseURL === undefined ? {} : { baseURL };
  return create({
    resources: [BaseZones, BaseRecords],
    apiToken,
    timeout: 15_000,
    maxRetries: 1,
    fetch: fetchGuarded as unknown as typeof fetch,
    ...options,
  });
}

const fetchGuarded = (url: string, init: Parameters<typeof guardedFetch>[2]) =>
  guardedFetch(url, config.providerScope, init);

type Client = Awaited<ReturnType<typeof createClient>>;

async function openZone(
  client: Client,
  mark: string,
  domain: string,
  nameservers: readonly string[],
): Promise<PublishingZone> {
  for (const apex of ancestors(domain).slice(0, -1)) {
    const { result } = await client.zones.list({ name: apex });
    // Several accounts may have a zone of this name; use the one that is delegated to.
    const zone = result.find(({ name_servers }) =>
      name_servers.some((server) => nameservers.includes(server.toLowerCase())),
    );
    if (zone !== undefined) return publishingZone(client, zone.id, apex, mark);
  }
  throw new DomainError('conflict', `The token has no access to a Cloudflare zone that serves ${domain}.`);
}

function publishingZone(client: Client, zoneId: string, apex: string, mark: string): PublishingZone {
  const recordsAt = async (name: string) =>
    (await client.dns.records.list({ zone_id: zoneId, name: { exact: name }, per_page: 100 })).result;
  return {
    apex,
    read: (name) => translateErrors(async () => (await recordsAt(name)).map(toExisting)),
    apply: (steps) =>
      translateErrors(async () => {
        const changes = await Promise.all(steps.map(toChange));
        // Cloudflare applies a batch in one transaction, deletions first.
        await client.dns.records.batch({
          zone_id: zoneId,
          deletes: changes.flatMap(({ deletes }) => deletes),
          posts: changes.map(({ post }) => post),
        });
      }),
  };

  async function toChange({ action, record }: Step) {
    const ours = action === 'replace' ? (await recordsAt(record.name)).filter(isReplaceable(record)) : [];
    return { deletes: ours.map(({ id }) => ({ id })), post: toPost(record, `${MARKER_PREFIX}${mark}`) };
  }
}

type CloudflareRecord = Awaited<ReturnType<Client['dns']['records']['list']>>['result'][number];

function toExisting(record: CloudflareRecord): Existing {
  return { type: record.type, value: valueOf(record), isOurs: record.comment?.startsWith(MARKER_PREFIX) === true };
}

function valueOf(record: CloudflareRecord): string {
  if (record.type === 'TXT') return unquoteText(record.content ?? '');
  const content = 'content' in record ? (record.content ?? '').toLowerCase() : '';
  return record.type === 'MX' ? `${record.priority ?? 0} ${content}` : content;
}

const isReplaceable = (record: DnsRecord) => (found: CloudflareRecord) =>
  found.type === record.type && toExisting(found).isOurs && isConflicting(record, valueOf(found));

function toPost({ type, name, value }: DnsRecord, comment: string) {
  // TTL 1 means automatic.
  const base = { name, ttl: 1, comment } as const;
  if (type === 'TXT') return { ...base, type, content: quoteText(value) } as const;
  const [preference = '10', exchange = ''] = value.split(' ');
  return { ...base, type, content: exchange, priority: Number(preference) } as const;
}

/** Translates Cloudflare's errors, which carry a status, for the user. */
async function translateErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    const { status, errors = [] } = error as { status?: number; errors?: { code?: number; message?: string }[] };
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
