import type * as Route53 from '@aws-sdk/client-route-53';
import { config, DomainError, guardedLookup, invalid } from '@postroom/platform';
import { ancestors } from '../dns/names.ts';
import type { DnsRecord } from '../records.ts';
import type { Existing, PublishingZone, Publisher, Step } from './plan.ts';
import { quoteText, unquoteText } from './txt.ts';

export interface Route53Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | null | undefined;
}

const TTL_SECONDS = 300;

/** Publishes through the official client. `mark` is the domain's id, named in the comment of the change. */
export async function route53(
  credentials: Route53Credentials,
  mark: string,
  { endpoint }: { endpoint?: string | undefined } = {},
): Promise<Publisher> {
  const sdk = await import('@aws-sdk/client-route-53');
  const guarded = { keepAlive: true, lookup: guardedLookup(() => config.providerScope) };
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const client = new sdk.Route53Client({
    region: 'us-east-1', // Route 53 is global, and signed for there.
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken == null ? {} : { sessionToken }) },
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 15_000, httpAgent: guarded, httpsAgent: guarded },
    maxAttempts: 2,
    ...(endpoint === undefined ? {} : { endpoint }),
  });
  return {
    name: 'Route 53',
    open: (domain, nameservers) => translateErrors(() => openZone(sdk, client, mark, domain, nameservers)),
  };
}

type Sdk = typeof Route53;

async function openZone(
  sdk: Sdk,
  client: Route53.Route53Client,
  mark: string,
  domain: string,
  nameservers: readonly string[],
): Promise<PublishingZone> {
  for (const apex of ancestors(domain).slice(0, -1)) {
    const { HostedZones = [] } = await client.send(
      new sdk.ListHostedZonesByNameCommand({ DNSName: apex, MaxItems: 20 }),
    );
    for (const { Id, Name, Config } of HostedZones) {
      if (Name !== `${apex}.` || Config?.PrivateZone === true) continue;
      // Several zones may share a name; use the one that is delegated to.
      const { DelegationSet } = await client.send(new sdk.GetHostedZoneCommand({ Id }));
      const serves = DelegationSet?.NameServers?.some((server) => nameservers.includes(server.toLowerCase())) === true;
      if (serves && Id !== undefined) return publishingZone(sdk, client, Id, apex, mark);
    }
  }
  throw new DomainError('conflict', `These credentials have no access to a public hosted zone that serves ${domain}.`);
}

function publishingZone(
  sdk: Sdk,
  client: Route53.Route53Client,
  zoneId: string,
  apex: string,
  mark: string,
): PublishingZone {
  return {
    apex,
    read: (name) => translateErrors(async () => (await setsAt(name)).flatMap(toExisting)),
    apply: (steps) =>
      translateErrors(async () => {
        const changes = (await Promise.all(steps.map(toChanges))).flat();
        const batch = { Comment: `postroom ${mark}`, Changes: changes };
        await client.send(new sdk.ChangeResourceRecordSetsCommand({ HostedZoneId: zoneId, ChangeBatch: batch }));
      }),
  };

  async function setsAt(name: string): Promise<Route53.ResourceRecordSet[]> {
    const { ResourceRecordSets = [] } = await client.send(
      new sdk.ListResourceRecordSetsCommand({ HostedZoneId: zoneId, StartRecordName: name, MaxItems: 50 }),
    );
    return ResourceRecordSets.filter((set) => set.Name === `${name}.`);
  }

  /**
   * Records of one name and type form a set. If it contains others' values, it is deleted exactly as read and created
   * with ours added: after a concurrent change the deletion no longer matches, and AWS rejects the whole batch.
   */
  async function toChanges({ record }: Step) {
    const present = (await setsAt(record.name)).find((set) => set.Type === record.type);
    const values = [...(present?.ResourceRecords ?? []), { Value: toValue(record) }];
    const set = { Name: record.name, Type: record.type, TTL: present?.TTL ?? TTL_SECONDS, ResourceRecords: values };
    const create = { Action: 'CREATE', ResourceRecordSet: set } as const;
    return present === undefined ? [create] : [{ Action: 'DELETE', ResourceRecordSet: present } as const, create];
  }
}

function toExisting({
  Type: type = 'TXT',
  ResourceRecords = [],
  SetIdentifier,
  AliasTarget,
}: Route53.ResourceRecordSet): Existing[] {
  if (SetIdentifier !== undefined || AliasTarget !== undefined) {
    return [{ type, value: SetIdentifier ?? AliasTarget?.DNSName ?? '', isOurs: false, isLocked: true }];
  }
  // Route 53 records cannot carry a marker, so none is known to be ours.
  return ResourceRecords.map(({ Value = '' }) => ({ type, value: fromValue(type, Value), isOurs: false }));
}

const fromValue = (type: string, value: string) =>
  type === 'TXT' ? unquoteText(value) : value.toLowerCase().replace(/\.$/, '');

const toValue = ({ type, value }: DnsRecord) => (type === 'TXT' ? quoteText(value) : `${value}.`);

/** Translates AWS errors, which carry a name and an HTTP status, for the user. */
async function translateErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    const status = $metadata?.httpStatusCode;
    if (status === 403 || status === 401) {
      throw invalid({ field: 'route53', message: `has credentials that AWS rejected (${message})` });
    }
    if (name === 'InvalidChangeBatch') {
      throw new DomainError('conflict', `Route 53 rejected the records: ${message}`);
    }
    if (status !== undefined && status < 500)
      throw new DomainError('conflict', `Route 53 rejected the request: ${message}`);
    throw new DomainError('conflict', 'Could not reach Route 53. Try again.');
  }
}
