import { newId } from '@postroom/platform';
import { DEGRADED_AFTER } from './concurrency-limit.ts';
import { BATCH_SIZE, RETRYING_PER_ENDPOINT } from './queue.ts';

/** First attempts in flight over all endpoints: the load on Temporal and the workers, however much is waiting. */
const MAX_IN_FLIGHT = 10 * BATCH_SIZE;

/**
 * Deliveries claimed per round. None of them is posted before all are claimed, so a bigger round would leave workers
 * idle.
 */
export const MAX_CLAIMED_PER_ROUND = 3 * BATCH_SIZE;

/**
 * First attempts in flight per endpoint: few until it is seen to acknowledge, so that one that hangs holds up little.
 */
const MAX_IN_FLIGHT_INITIAL = 10;
const MAX_IN_FLIGHT_HEALTHY = 3 * BATCH_SIZE;

/** A degraded endpoint may have this many deliveries in flight, then one probe per interval. */
const MAX_IN_FLIGHT_DEGRADED = 10;
export const PROBE_INTERVAL_MS = 30_000;

/** Endpoints with less demand than this are served first. */
const SMALL_BELOW = 25;

/** Demand that justifies an endpoint's own batch. A batch costs Temporal far more than the deliveries in it. */
const OWN_BATCH_MIN = BATCH_SIZE / 2;

/** An endpoint with waiting deliveries, as read from the tables. */
export interface EndpointQueue {
  endpointId: string;
  projectId: string;
  /** First attempts in flight over all endpoints of its project. */
  projectInFlight: number;
  /** Deliveries not attempted yet, capped at a batch. */
  waiting: number;
  failuresInRow: number;
  /** Whether first attempts finished lately and none failed. */
  isHealthy: boolean;
  /** First attempts in flight. */
  attempting: number;
  /** Deliveries waiting for a retry. */
  retrying: number;
  /** When this dispatcher last claimed from it, in Unix milliseconds. The least recently served comes first. */
  servedAt: number;
}

/**
 * What to claim from an endpoint: each delivery individually (`batch: null`), or into the batch with this workflow
 * id.
 */
export interface Take {
  endpointId: string;
  take: number;
  batch: string | null;
}

export interface Capacity {
  /** Deliveries that may get their own workflow. */
  individually: number;
  /** First attempts in flight over all endpoints. */
  inFlight: number;
  /** Unix milliseconds. */
  now: number;
}

interface Wanted {
  endpointId: string;
  projectId: string;
  projectInFlight: number;
  take: number;
}

/**
 * Decides what to dispatch now. Up to `individually` deliveries start one workflow each. In a burst, first attempts
 * are batched: endpoints share a batch unless one fills half of it. Deliveries to degraded endpoints always go
 * individually.
 */
export function plan(waiting: readonly EndpointQueue[], { individually, inFlight, now }: Capacity): Take[] {
  const degraded = waiting.filter(isDegraded);
  const probes = degraded.map((one) => ({ endpointId: one.endpointId, take: probe(one, now), batch: null }));
  const healthy = waiting.filter((one) => !isDegraded(one)).toSorted((a, b) => a.servedAt - b.servedAt);
  const wanted = limit(interleaveProjects(healthy.map(demandOf)), Math.max(0, MAX_IN_FLIGHT - inFlight));
  const isBurst = healthy.reduce((sum, { waiting: rows }) => sum + rows, 0) > individually;
  const rest = isBurst ? toBatches(wanted) : wanted.map(({ endpointId, take }) => ({ endpointId, take, batch: null }));
  return [...probes, ...rest].filter(({ take }) => take > 0);
}

const isDegraded = ({ failuresInRow }: EndpointQueue) => failuresInRow >= DEGRADED_AFTER;

function probe({ waiting, attempting, retrying, servedAt }: EndpointQueue, now: number): number {
  const room = MAX_IN_FLIGHT_DEGRADED - attempting - retrying;
  if (room > 0) return Math.min(waiting, room);
  const isDue = attempting === 0 && now - servedAt >= PROBE_INTERVAL_MS;
  return isDue ? Math.min(waiting, 1) : 0;
}

function demandOf({
  endpointId,
  projectId,
  projectInFlight,
  waiting,
  isHealthy,
  attempting,
  retrying,
}: EndpointQueue): Wanted {
  const room = (isHealthy ? MAX_IN_FLIGHT_HEALTHY : MAX_IN_FLIGHT_INITIAL) - attempting;
  const take = retrying >= RETRYING_PER_ENDPOINT ? 0 : Math.max(0, Math.min(waiting, BATCH_SIZE, room));
  return { endpointId, projectId, projectInFlight, take };
}

/**
 * Interleaves projects: the first endpoint of each, then the second of each, so that a project with many endpoints
 * delays no other.
 */
function interleaveProjects(wanted: readonly Wanted[]): Wanted[] {
  const ranks = new Map<string, number>();
  const numbered = wanted.map((one) => {
    const rank = ranks.get(one.projectId) ?? 0;
    ranks.set(one.projectId, rank + 1);
    return { one, rank };
  });
  return numbered.toSorted((a, b) => a.rank - b.rank).map(({ one }) => one);
}

/**
 * Small demands are met first; large ones get up to a batch each until capacity runs out. A project may have as much
 * in flight as it leaves free, so that one project's hanging endpoints leave room for the others.
 */
function limit(wanted: readonly Wanted[], free: number): Wanted[] {
  let left = Math.min(free, MAX_CLAIMED_PER_ROUND);
  const shares = new Map<string, number>();
  const take = (one: Wanted): Wanted => {
    const { projectId, projectInFlight } = one;
    const share = shares.get(projectId) ?? Math.max(0, Math.floor((free - projectInFlight) / 2));
    const taken = Math.min(one.take, left, share);
    left -= taken;
    shares.set(projectId, share - taken);
    return { ...one, take: taken };
  };
  const small = wanted.filter((one) => one.take < SMALL_BELOW).map(take);
  const large = wanted.filter((one) => one.take >= SMALL_BELOW).map(take);
  return [...small, ...large];
}

function toBatches(wanted: readonly Wanted[]): Take[] {
  let shared: { batch: string; size: number } | undefined;
  return wanted.map(({ endpointId, take }) => {
    if (take >= OWN_BATCH_MIN) return { endpointId, take, batch: batchId() };
    if (shared === undefined || shared.size + take > BATCH_SIZE) shared = { batch: batchId(), size: 0 };
    shared.size += take;
    return { endpointId, take, batch: shared.batch };
  });
}

/** Sorts by time and cannot collide with a delivery's id. */
const batchId = () => newId('dlv').replace('dlv_', 'batch_');
