import { randomBytes } from 'node:crypto';
import type { Session } from '../dns/resolver.ts';
import type { DnsRecord, RecordState } from '../records.ts';
import type { Findings } from '../recommendations.ts';
import { type DmarcPolicy, inspectDmarc } from './dmarc.ts';
import { assess, type Observation } from './assess.ts';
import { problems } from './problems.ts';
import { reportSpf } from './spf.ts';

/** The result of one check of a domain. */
export interface Inspection {
  /** Observations in the order of the records. */
  observations: Observation[];
  zone: Awaited<ReturnType<Session['zoneOf']>>;
  dmarc: DmarcPolicy | undefined;
  findings: Omit<Findings, 'dmarcNoneSince'>;
}

/** Inspects a domain. The records to verify come first, because the session may reach its deadline. */
export async function inspectDomain(
  session: Session,
  { domain, mailFromDomain, records }: { domain: string; mailFromDomain: string; records: readonly RecordState[] },
): Promise<Inspection> {
  const dmarc = await inspectDmarc(session, domain);
  const zone = await session.zoneOf(domain);
  const inspectOne = async (record: DnsRecord) =>
    record.purpose === 'dmarc' ? dmarc.observation : inspectRecord(session, record, zone?.apex ?? domain);
  const observations = await Promise.all(records.map(inspectOne));
  const dkim = records.findIndex((record) => record.purpose === 'dkim');
  const [spf, mailFromSpf, inbound, hasTlsReports, hasBimi, isDnssecBroken, silentServers] = await Promise.all([
    reportSpf(session, domain),
    reportSpf(session, mailFromDomain),
    inspectInbound(session, domain),
    hasRecord(session, `_smtp._tls.${domain}`, /^v=TLSRPTv1/),
    hasRecord(session, `default._bimi.${domain}`, /^v=BIMI1/),
    inspectDnssec(session, records[dkim], observations[dkim]),
    silentServersOf(session, records[dkim]),
  ]);
  const isDmarcMissing = dmarc.policy === undefined && dmarc.observation.verdict === 'wrong';
  return {
    observations,
    zone,
    dmarc: dmarc.policy,
    findings: {
      domain,
      mailFromDomain,
      dmarc: dmarc.policy,
      isDmarcMissing,
      spf,
      mailFromSpf,
      inbound,
      hasTlsReports,
      hasBimi,
      isDnssecBroken,
      silentServers,
    },
  };
}

/** Inspects a record at its zone's name servers; if it is missing, checks for common mistakes. */
async function inspectRecord(session: Session, record: DnsRecord, apex: string): Promise<Observation> {
  const problemOf = problems(record);
  const observation = assess(await session.survey(record.name, record.type), problemOf);
  if (observation.verdict !== 'wrong') return observation;
  return observation.found.length === 0
    ? ((await inspectDoubledName(session, record, apex)) ?? observation)
    : ((await inspectWildcard(session, record, observation)) ?? observation);
}

/** Editors that append the domain turn a full name into `x.example.com.example.com`. */
async function inspectDoubledName(session: Session, record: DnsRecord, apex: string): Promise<Observation | undefined> {
  const appended = `${record.name}.${apex}`;
  const { outcome, records } = await session.lookup(appended, record.type);
  if (outcome !== 'found' || problems(record)(records) !== undefined) return undefined;
  const host = record.name.slice(0, -apex.length - 1);
  const note = `It was published as ${appended}: the editor adds ${apex} automatically, so enter only ${host} as the name.`;
  return { verdict: 'wrong', found: records, note };
}

/** A wildcard answers for every name without its own record. */
async function inspectWildcard(
  session: Session,
  record: DnsRecord,
  observation: Observation,
): Promise<Observation | undefined> {
  const parent = record.name.slice(record.name.indexOf('.') + 1);
  const { records } = await session.lookup(`probe-${randomBytes(6).toString('hex')}.${parent}`, record.type);
  const isWildcard = records.length > 0 && records.toSorted().join('\n') === observation.found.toSorted().join('\n');
  if (!isWildcard) return undefined;
  return {
    ...observation,
    note: 'Record not found yet; a wildcard record (*) of the zone answers instead.',
  };
}

async function inspectInbound(session: Session, domain: string): Promise<Findings['inbound']> {
  const mx = await session.lookup(domain, 'MX');
  if (mx.records.some((record) => record.endsWith(' .'))) return 'refuses';
  if (mx.outcome === 'found') return 'present';
  // Without an MX record, mail goes to the domain's own address (RFC 5321 §5.1).
  const addresses = [await session.lookup(domain, 'A'), await session.lookup(domain, 'AAAA')];
  if (addresses.some(({ outcome }) => outcome === 'found')) return 'present';
  return [mx, ...addresses].some(({ outcome }) => outcome === 'silent') ? 'unknown' : 'missing';
}

/** Assumes presence without an answer: a record not known to be missing needs no recommendation. */
async function hasRecord(session: Session, name: string, pattern: RegExp): Promise<boolean> {
  const { outcome, records } = await session.lookup(name, 'TXT');
  return outcome === 'silent' || records.some((record) => pattern.test(record));
}

/**
 * Whether validating resolvers reject what the zone's own servers answer. Queried only once all of them have the
 * record, because an earlier query would make the resolver cache its absence.
 */
async function inspectDnssec(
  session: Session,
  record: DnsRecord | undefined,
  seen: Observation | undefined,
): Promise<boolean> {
  if (record === undefined || seen?.verdict !== 'right' || seen.note !== null) return false;
  const checked = await session.recursive(record.name, record.type);
  if (checked.outcome !== 'silent' || checked.why !== 'SERVFAIL') return false;
  const unchecked = await session.recursive(record.name, record.type, { checkingDisabled: true });
  return unchecked.outcome === 'found';
}

async function silentServersOf(session: Session, record: DnsRecord | undefined): Promise<string[]> {
  if (record === undefined) return [];
  const { views } = await session.survey(record.name, record.type);
  const silent = views.filter(({ outcome }) => outcome === 'silent').map(({ server }) => server);
  return silent.length < views.length ? silent : [];
}
