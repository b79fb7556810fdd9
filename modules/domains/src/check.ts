import { getServers } from 'node:dns';
import { config, db, type Prisma, sql } from '@postroom/platform';
import { openSession, type ResolverOptions } from './dns/resolver.ts';
import { type Inspection, inspectDomain } from './inspect/inspect.ts';
import type { Observation } from './inspect/assess.ts';
import { announceDomain } from './subscription.ts';
import { domainChanged, type NewLifecycleEvent, PART_NAMES, partChanged, recordLifecycle } from './lifecycle.ts';
import { detectProvider, providerFor } from './providers.ts';
import { recommend } from './recommendations.ts';
import { type Part, PARTS, type RecordState } from './records.ts';
import {
  maySend,
  nextState,
  nextWait,
  type PartState,
  type PartStates,
  SCHEDULE,
  type Schedule,
  worstStatus,
} from './status.ts';
import { inspectTracking, settleTracking, type TrackingMemory } from './tracking.ts';

type Domain = Prisma.DomainModel;

export interface CheckOptions {
  dns: ResolverOptions;
  schedule: Schedule;
  /** Returns Unix milliseconds. */
  now: () => number;
}

/** A check's result for the workflow. `gone`: the domain was removed or is never checked. */
export type Check = { outcome: 'checked'; waitMs: number; details: string } | { outcome: 'gone' };

/** Resolves through the configured resolvers, or the system's. */
const dnsOptions = (): ResolverOptions => ({
  resolvers: config.DNS_SERVERS ?? systemResolvers(),
  locate: (address) => ({ address, port: config.DNS_AUTHORITATIVE_PORT }),
  scope: config.nameServerScope,
  retry: { timeoutMs: 1_500, tries: 2 },
  deadlineMs: 45_000,
});

function systemResolvers() {
  return getServers().map((server) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d+))?$/.exec(server) ?? [];
    return { address: bracketed ?? plain ?? server, port: Number(port ?? 53) };
  });
}

/** Checks a domain's records and stores their status, which determines the wait until the next check. */
export async function checkDomainWith(
  domainId: string,
  { dns = dnsOptions(), schedule = SCHEDULE, now = Date.now }: Partial<CheckOptions> = {},
): Promise<Check> {
  const domain = await db.domain.findUnique({ where: { id: domainId } });
  if (domain === null || domain.mailFromDomain === null) return { outcome: 'gone' };
  const { mailFromDomain } = domain;
  const session = openSession(dns);
  try {
    const records = recordsOf(domain);
    const inspection = await inspectDomain(session, { domain: domain.domain, mailFromDomain, records });
    const tracking = { host: domain.trackingDomain, seen: await inspectTracking(session, domain) };
    return await db.$transaction((tx) => settle(tx, domainId, { ...inspection, tracking }, schedule, now()));
  } finally {
    session.end();
  }
}

/** A domain's records with their status at the last check. */
export const recordsOf = (domain: Pick<Domain, 'records'>) => domain.records as unknown as RecordState[];

/** State carried from one check to the next. Times are Unix milliseconds. */
interface Memory {
  parts?: Partial<Record<Part, Omit<PartState, 'status'>>>;
  dmarcNoneSince?: number;
  tracking?: TrackingMemory;
}

async function settle(
  tx: Prisma.TransactionClient,
  id: string,
  inspection: Inspection & { tracking: { host: string | null; seen: Observation | undefined } },
  schedule: Schedule,
  now: number,
): Promise<Check> {
  await sql(tx, 'SELECT 1 FROM domains WHERE id = $1 FOR UPDATE', [id]);
  const domain = await tx.domain.findUnique({ where: { id } });
  if (domain === null) return { outcome: 'gone' };
  const memory = domain.memory as Memory;
  const clock = { now, addedAt: domain.createdAt.getTime(), schedule };
  const records = recordsOf(domain).map((record, index) => ({
    record,
    seen: inspection.observations[index] ?? UNANSWERED,
  }));
  const parts = nextParts(domain, memory, records, clock);
  const verification = worstStatus(parts);
  const { zone } = inspection;
  const dmarcNoneSince = noneSince(inspection, memory, now);
  // A host that was changed during the look-up is checked next time.
  const { host, seen } = inspection.tracking;
  const tracking = settleTracking(domain, host === domain.trackingDomain ? seen : undefined, clock);
  const waitMs = nextWait(parts, clock, tracking);
  const next = {
    verification,
    dkim: parts.dkim.status,
    mailFrom: parts.mailFrom.status,
    dmarc: parts.dmarc.status,
    verifiedForSending: maySend(verification, domain.blockedAt),
    records: records.map(({ record, seen }) => nextRecord(record, seen, parts[record.purpose])) as object[],
    memory: {
      parts: mapParts((part) => sinceOf(parts[part])),
      dmarcNoneSince,
      tracking: tracking?.memory ?? memory.tracking,
    } as object,
    ...(tracking === undefined ? {} : { tracking: tracking.state.status }),
    // If the zone did not answer, its previous data is kept.
    ...(zone === undefined
      ? {}
      : { ...zoneColumns(zone), recommendations: recommendationsFor(inspection, dmarcNoneSince, now) }),
    checkedAt: new Date(now),
    nextCheckAt: new Date(now + waitMs),
  };
  await tx.domain.update({ where: { id }, data: next });
  const events = [...changes(domain, { ...next, parts }, records, schedule), ...(tracking?.events ?? [])];
  await recordLifecycle(tx, id, events);
  await announceDomain(tx, id);
  return { outcome: 'checked', waitMs, details: describe(domain.domain, next) };
}

interface ObservedRecord {
  record: RecordState;
  seen: Observation;
}

/** Since when the policy has been p=none. Unanswered queries change nothing. */
function noneSince({ dmarc, zone }: Inspection, { dmarcNoneSince }: Memory, now: number): number | undefined {
  if (dmarc === undefined && zone === undefined) return dmarcNoneSince;
  return dmarc?.policy === 'none' ? (dmarcNoneSince ?? now) : undefined;
}

function recommendationsFor({ findings }: Inspection, dmarcNoneSince: number | undefined, now: number): object[] {
  const since = dmarcNoneSince === undefined ? undefined : new Date(dmarcNoneSince);
  return recommend({ ...findings, dmarcNoneSince: since }, new Date(now));
}

function zoneColumns(zone: NonNullable<Inspection['zone']>) {
  return { zone: zone.apex, nameservers: zone.nameservers, dnsProvider: detectProvider(zone) ?? null };
}

const UNANSWERED: Observation = { verdict: 'unanswered', found: [], note: null };

function mapParts<T>(make: (part: Part) => T): Record<Part, T> {
  return { dkim: make('dkim'), mailFrom: make('mailFrom'), dmarc: make('dmarc') };
}

function nextParts(
  domain: Domain,
  memory: Memory,
  records: ObservedRecord[],
  clock: Parameters<typeof nextState>[2],
): PartStates {
  return mapParts((part) => {
    const verdicts = records.filter(({ record }) => record.purpose === part).map(({ seen }) => seen.verdict);
    return nextState({ status: domain[part], ...memory.parts?.[part] }, worstOf(verdicts), clock);
  });
}

/** A part is right when all its records are. */
function worstOf(verdicts: readonly Observation['verdict'][]): Observation['verdict'] {
  if (verdicts.includes('wrong')) return 'wrong';
  return verdicts.includes('unanswered') ? 'unanswered' : 'right';
}

/** An unanswered record keeps its status, unless its part is no longer verified. */
function nextRecord(record: RecordState, { verdict, found, note }: Observation, part: PartState): RecordState {
  if (verdict === 'right') return { ...record, status: 'verified', found, note };
  if (verdict === 'unanswered' && part.status === 'verified') return { ...record, note };
  return { ...record, status: part.status, found, note };
}

const sinceOf = ({ status: _, ...since }: PartState) => since;

function changes(
  before: Domain,
  after: Pick<Domain, 'verification'> & { parts: PartStates; dnsProvider?: string | null },
  records: ObservedRecord[],
  schedule: Schedule,
): NewLifecycleEvent[] {
  const noteOf = (part: Part) =>
    records.find(({ record, seen }) => record.purpose === part && seen.verdict !== 'right')?.seen.note ?? null;
  const changed = PARTS.filter((part) => after.parts[part].status !== before[part]);
  const provider = after.dnsProvider == null ? undefined : providerFor(after.dnsProvider, before.domain);
  return [
    ...(provider !== undefined && provider.id !== before.dnsProvider ? [providerDetected(provider.name)] : []),
    ...changed.map((part) => partChanged(part, after.parts[part], noteOf(part), schedule)),
    ...(after.verification === before.verification ? [] : [domainChanged(after.verification)]),
  ];
}

const providerDetected = (name: string): NewLifecycleEvent => ({
  type: 'providerDetected',
  part: 'domain',
  actor: 'system',
  detail: `The zone is served by ${name}.`,
});

/** The details shown on the workflow's page in Temporal. */
function describe(
  name: string,
  { nextCheckAt, verification, ...parts }: Pick<Domain, Part | 'verification'> & { nextCheckAt: Date },
): string {
  const lines = PARTS.map((part) => `- ${PART_NAMES[part]}: ${parts[part]}`);
  return `${name} is **${verification}**.\n\n${lines.join('\n')}\n\nThe next check is due at ${nextCheckAt.toISOString()}.`;
}
