import { isIP } from 'node:net';
import { config, type Prisma } from '@postroom/platform';
import { assess, type Observation } from './inspect/assess.ts';
import type { Session } from './dns/resolver.ts';
import type { NewLifecycleEvent } from './lifecycle.ts';
import { nextState, type PartState, type Schedule } from './status.ts';

type Row = Pick<Prisma.DomainModel, 'trackingDomain' | 'tracking' | 'trackingSince' | 'memory'>;

/** The DNS record that points a tracking host at this gateway. */
export interface TrackingRecord {
  purpose: 'tracking';
  /** A CNAME cannot point at an IP address, which a development host may be. */
  type: 'CNAME' | 'A' | 'AAAA';
  name: string;
  value: string;
  status: Prisma.DomainModel['tracking'];
  found: string[];
  note: string | null;
}

/** State carried from one check of the host to the next, and shown with the domain. */
export interface TrackingMemory extends Omit<PartState, 'status'> {
  found?: string[];
  note?: string | null;
}

const memoryOf = ({ memory }: Pick<Row, 'memory'>) => (memory as { tracking?: TrackingMemory }).tracking ?? {};

/** The record's target: the host of this gateway. */
export function trackingTarget(publicUrl = config.PUBLIC_URL): Pick<TrackingRecord, 'type' | 'value'> {
  const host = new URL(publicUrl).hostname.replace(/^\[|\]$/g, '');
  const version = isIP(host);
  return { type: version === 0 ? 'CNAME' : version === 4 ? 'A' : 'AAAA', value: host };
}

/** The record to publish for a domain's tracking host, with its status; undefined if it has none. */
export function trackingRecord(domain: Row): TrackingRecord | undefined {
  if (domain.trackingDomain === null) return undefined;
  const { found = [], note = null } = memoryOf(domain);
  return {
    purpose: 'tracking',
    name: domain.trackingDomain,
    ...trackingTarget(),
    status: domain.tracking,
    found,
    note,
  };
}

/** Looks up the record; undefined if the domain has no tracking host. */
export async function inspectTracking(
  session: Session,
  { trackingDomain }: Pick<Row, 'trackingDomain'>,
): Promise<Observation | undefined> {
  if (trackingDomain === null) return undefined;
  const { type, value } = trackingTarget();
  return assess(await session.survey(trackingDomain, type), (found) =>
    found.every((record) => record === value) ? undefined : `The ${type} record points to another host.`,
  );
}

/** Evaluates a look-up of the host: its new state, the state to store and the events to record. */
export function settleTracking(
  domain: Row & Pick<Prisma.DomainModel, 'createdAt'>,
  seen: Observation | undefined,
  { now, schedule }: { now: number; schedule: Schedule },
): { state: PartState; addedAt: number; memory: TrackingMemory; events: NewLifecycleEvent[] } | undefined {
  if (domain.trackingDomain === null || seen === undefined) return undefined;
  const addedAt = (domain.trackingSince ?? domain.createdAt).getTime();
  const before = memoryOf(domain);
  const state = nextState({ status: domain.tracking, ...before }, seen.verdict, { now, addedAt, schedule });
  const { status, ...since } = state;
  const kept = seen.verdict === 'unanswered' ? (before.found ?? []) : seen.found;
  const events: NewLifecycleEvent[] =
    status === domain.tracking
      ? []
      : [
          {
            type: status,
            part: 'tracking',
            actor: 'system',
            detail: describeTracking(domain.trackingDomain, status, seen.note),
          },
        ];
  return { state, addedAt, memory: { ...since, found: kept, note: seen.note }, events };
}

function describeTracking(host: string, status: PartState['status'], note: string | null): string {
  if (status === 'verified') return `Tracking links now use ${host}.`;
  const why = note === null ? '' : ` ${note}`;
  return `${host} does not point to this gateway, so tracking links use the default host.${why}`;
}
