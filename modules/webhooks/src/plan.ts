import { newId } from '@postroom/platform';
import { POLICY } from './policy.ts';

/** An endpoint with waiting deliveries, as read from the tables. */
export interface EndpointQueue {
  endpointId: string;
  projectId: string;
  /** Attempts of this kind in flight over all endpoints of its project. */
  projectInFlight: number;
  /** Deliveries to attempt now, capped at a batch: first attempts, or retries that are due. */
  waiting: number;
  failuresInRow: number;
  /** Whether attempts finished lately and the last one was acknowledged. */
  isHealthy: boolean;
  /** Attempts of this kind in flight. */
  attempting: number;
  /** Deliveries that were attempted and are not acknowledged, capped at what a degraded endpoint may have in flight. */
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
  /** Whether further deliveries are batched; otherwise they wait. */
  mayBatch: boolean;
  /** Attempts of this kind in flight over all endpoints. */
  inFlight: number;
  /** The most attempts of this kind in flight over all endpoints. */
  maxInFlight: number;
  /** Unix milliseconds. */
  now: number;
}

/** What an endpoint may get in this round, before the limits on all of them. */
interface Demand {
  endpointId: string;
  projectId: string;
  projectInFlight: number;
  take: number;
}

/**
 * Decides which first attempts to dispatch now. Up to `individually` deliveries start one workflow each. In a burst, first attempts
 * are batched, if they may be: endpoints share a batch unless one fills half of it. Deliveries to degraded endpoints always go
 * individually.
 */
export function plan(
  waiting: readonly EndpointQueue[],
  { individually, mayBatch, inFlight, maxInFlight, now }: Capacity,
): Take[] {
  const degraded = waiting.filter(isDegraded);
  const probes = degraded.map((one) => ({ endpointId: one.endpointId, take: takeFromDegraded(one, now), batch: null }));
  const healthy = waiting.filter((one) => !isDegraded(one)).toSorted((a, b) => a.servedAt - b.servedAt);
  const demands = limit(interleaveProjects(healthy.map(demandOf)), Math.max(0, maxInFlight - inFlight));
  const isBurst = healthy.reduce((sum, { waiting: rows }) => sum + rows, 0) > individually;
  const rest = isBurst && mayBatch ? toBatches(demands) : toIndividual(demands, individually);
  return [...probes, ...rest].filter(({ take }) => take > 0);
}

/**
 * Decides which due retries to dispatch now. They are batched, if they may be. A degraded endpoint gets few, after all others, so that
 * its backlog costs those nothing.
 */
export function planRetries(
  due: readonly EndpointQueue[],
  { individually, mayBatch, inFlight, maxInFlight }: Omit<Capacity, 'now'>,
): Take[] {
  const ordered = due.toSorted((a, b) => Number(isDegraded(a)) - Number(isDegraded(b)) || a.servedAt - b.servedAt);
  const demands = limit(interleaveProjects(ordered.map(demandOf)), Math.max(0, maxInFlight - inFlight));
  const takes = mayBatch ? toBatches(demands.filter(({ take }) => take > 0)) : toIndividual(demands, individually);
  return takes.filter(({ take }) => take > 0);
}

const isDegraded = ({ failuresInRow }: EndpointQueue) => failuresInRow >= POLICY.endpoint.degradedAfter;

function takeFromDegraded({ waiting, attempting, retrying, servedAt }: EndpointQueue, now: number): number {
  const room = POLICY.endpoint.maxInFlightDegraded - attempting - retrying;
  if (room > 0) return Math.min(waiting, room);
  const isDue = attempting === 0 && now - servedAt >= POLICY.endpoint.probeIntervalMs;
  return isDue ? Math.min(waiting, 1) : 0;
}

function demandOf(queue: EndpointQueue): Demand {
  const { endpointId, projectId, projectInFlight, waiting, attempting } = queue;
  const take = Math.max(0, Math.min(waiting, POLICY.batch.size, maxInFlightOf(queue) - attempting));
  return { endpointId, projectId, projectInFlight, take };
}

function maxInFlightOf(queue: EndpointQueue): number {
  if (isDegraded(queue)) return POLICY.endpoint.maxInFlightDegraded;
  return queue.isHealthy ? POLICY.endpoint.maxInFlightHealthy : POLICY.endpoint.maxInFlightInitial;
}

/**
 * Interleaves projects: the first endpoint of each, then the second of each, so that a project with many endpoints
 * delays no other.
 */
function interleaveProjects(demands: readonly Demand[]): Demand[] {
  const ranks = new Map<string, number>();
  const numbered = demands.map((one) => {
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
function limit(demands: readonly Demand[], free: number): Demand[] {
  let left = Math.min(free, POLICY.dispatch.maxClaimedPerRound);
  const shares = new Map<string, number>();
  const take = (one: Demand): Demand => {
    const { projectId, projectInFlight } = one;
    const share = shares.get(projectId) ?? Math.max(0, Math.floor((free - projectInFlight) / 2));
    const taken = Math.min(one.take, left, share);
    left -= taken;
    shares.set(projectId, share - taken);
    return { ...one, take: taken };
  };
  const small = demands.filter((one) => one.take < POLICY.dispatch.smallBelow).map(take);
  const large = demands.filter((one) => one.take >= POLICY.dispatch.smallBelow).map(take);
  return [...small, ...large];
}

/** The first `max` deliveries, each on its own. */
function toIndividual(demands: readonly Demand[], max: number): Take[] {
  let left = max;
  return demands.map(({ endpointId, take }) => {
    const taken = Math.min(take, left);
    left -= taken;
    return { endpointId, take: taken, batch: null };
  });
}

function toBatches(demands: readonly Demand[]): Take[] {
  let shared: { batch: string; size: number } | undefined;
  return demands.map(({ endpointId, take }) => {
    if (take >= POLICY.batch.ownMin) return { endpointId, take, batch: batchId() };
    if (shared === undefined || shared.size + take > POLICY.batch.size) shared = { batch: batchId(), size: 0 };
    shared.size += take;
    return { endpointId, take, batch: shared.batch };
  });
}

/** Sorts by time and cannot collide with a delivery's id. */
const batchId = () => newId('dlv').replace('dlv_', 'batch_');
