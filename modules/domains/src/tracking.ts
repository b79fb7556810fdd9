import { isIP } from 'node:net';
import { config, type Prisma } from '@postroom/platform';
import { judge, type Observation } from './inspect/judge.ts';
import type { Session } from './dns/resolver.ts';
import type { NewLifecycleEvent } from './lifecycle.ts';
import { nextState, type PartState, type Schedule } from './status.ts';

type Row = Pick<Prisma.DomainModel, 'trackingDomain' | 'tracking' | 'trackingSince' | 'memory'>;

/** The record that leads a tracking host to this gateway. */
export interface TrackingRecord {
  purpose: 'tracking';
  /** A host that is only an address here, such as one of development, can not be the target of a CNAME. */
  type: 'CNAME' | 'A' | 'AAAA';
  name: string;
  value: string;
  status: Prisma.DomainModel['tracking'];
  found: string[];
  note: string | null;
}

/** What a check of the host remembers for the next one, and for whoever looks at the domain. */
export interface TrackingMemory extends Omit<PartState, 'status'> {
  found?: string[];
  note?: string | null;
}

const memoryOf = ({ memory }: Pick<Row, 'memory'>) => (memory as { tracking?: TrackingMemory }).tracking ?? {};

/** What a tracking host has to lead to: where this gateway is reached. */
export function trackingTarget(publicUrl = config.PUBLIC_URL): Pick<TrackingRecord, 'type' | 'value'> {
  const host = new URL(publicUrl).hostname.replace(/^\[|\]$/g, '');
  const version = isIP(host);
  return { type: version === 0 ? 'CNAME' : version === 4 ? 'A' : 'AAAA', value: host };
}

/** The record to publish for the tracking host of a domain, and how it stands; undefined when it has none. */
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

/** Looks the record up; undefined when the domain has no tracking host. */
export async function inspectTracking(
  session: Session,
  { trackingDomain }: Pick<Row, 'trackingDomain'>,
): Promise<Observation | undefined> {
  if (trackingDomain === null) return undefined;
  const { type, value } = trackingTarget();
  return judge(await session.survey(trackingDomain, type), (found) =>
    found.every((record) => record === value) ? undefined : `The ${type} record leads to another host.`,
  );
}

/** How the host stands after it was looked up: what is to be written down, and when to look again. */
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
      : [{ type: status, part: 'tracking', actor: 'system', detail: sayHow(domain.trackingDomain, status, seen.note) }];
  return { state, addedAt, memory: { ...since, found: kept, note: seen.note }, events };
}

function sayHow(host: string, status: PartState['status'], note: string | null): string {
  if (status === 'verified') return `Links begin with ${host} from now on.`;
  const why = note === null ? '' : ` ${note}`;
  return `${host} does not lead here, so links begin with our own host.${why}`;
}
