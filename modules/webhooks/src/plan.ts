import { newId } from '@postroom/platform';
import { DEGRADED_AFTER } from './concurrency-limit.ts';
import { BATCH_SIZE, RETRYING_PER_ENDPOINT } from './queue.ts';

/** First attempts in hand at most, of all endpoints: what Temporal and the workers hold, however much waits. */
const IN_HAND = 10 * BATCH_SIZE;

/** And taken in one round: what is taken waits until all of it is marked, and meanwhile there would be nothing to post. */
export const TAKEN_PER_ROUND = 3 * BATCH_SIZE;

/** And of one endpoint: few until it is seen to acknowledge, so that those that hang hold little. */
const IN_HAND_AT_FIRST = 10;
const IN_HAND_WHEN_FLOWING = 3 * BATCH_SIZE;

/** For an endpoint that struggles: so many deliveries in hand, and then one more as a probe each half minute. */
const STRUGGLING_IN_HAND = 10;
export const PROBE_EVERY_MS = 30_000;

/** Endpoints that want less than this get it first. */
const LITTLE_BELOW = 25;

/** An endpoint's part of a round that is worth a batch of its own. Batches cost Temporal much more than what is in them. */
const OWN_BATCH_FROM = BATCH_SIZE / 2;

/** An endpoint for which deliveries wait, as the tables have it. */
export interface EndpointQueue {
  endpointId: string;
  projectId: string;
  /** First attempts in hand, of all endpoints of its project. */
  projectInHand: number;
  /** Deliveries not attempted yet, counted up to a batch. */
  waiting: number;
  failuresInRow: number;
  /** Whether first attempts were seen to come back lately, and none failed. */
  isFlowing: boolean;
  /** First attempts in hand. */
  attempting: number;
  /** Deliveries that wait for another attempt. */
  retrying: number;
  /** When this relay last took some of it, in milliseconds; what was served longest ago comes first. */
  servedAt: number;
}

/** What to take: so many of an endpoint, each alone (`batch: null`) or into the batch whose workflow has that id. */
export interface Take {
  endpointId: string;
  take: number;
  batch: string | null;
}

export interface Room {
  /** Deliveries that may go alone. */
  alone: number;
  /** First attempts in hand, of all endpoints. */
  inHand: number;
  /** The time, in milliseconds. */
  now: number;
}

interface Wanted {
  endpointId: string;
  projectId: string;
  projectInHand: number;
  take: number;
}

/**
 * Decides what to hand over now. What fits into `alone` starts one workflow each; in a burst first attempts go in batches:
 * those of several endpoints together, unless one endpoint's fill half of one. Deliveries of struggling
 * endpoints are always alone.
 */
export function plan(waiting: readonly EndpointQueue[], { alone, inHand, now }: Room): Take[] {
  const struggling = waiting.filter(isStruggling);
  const probes = struggling.map((one) => ({ endpointId: one.endpointId, take: probe(one, now), batch: null }));
  const well = waiting.filter((one) => !isStruggling(one)).toSorted((a, b) => a.servedAt - b.servedAt);
  const wanted = limit(inTurns(well.map(wish)), Math.max(0, IN_HAND - inHand));
  const isBurst = well.reduce((sum, { waiting: rows }) => sum + rows, 0) > alone;
  const rest = isBurst
    ? intoBatches(wanted)
    : wanted.map(({ endpointId, take }) => ({ endpointId, take, batch: null }));
  return [...probes, ...rest].filter(({ take }) => take > 0);
}

const isStruggling = ({ failuresInRow }: EndpointQueue) => failuresInRow >= DEGRADED_AFTER;

function probe({ waiting, attempting, retrying, servedAt }: EndpointQueue, now: number): number {
  const room = STRUGGLING_IN_HAND - attempting - retrying;
  if (room > 0) return Math.min(waiting, room);
  const isDue = attempting === 0 && now - servedAt >= PROBE_EVERY_MS;
  return isDue ? Math.min(waiting, 1) : 0;
}

function wish({
  endpointId,
  projectId,
  projectInHand,
  waiting,
  isFlowing,
  attempting,
  retrying,
}: EndpointQueue): Wanted {
  const room = (isFlowing ? IN_HAND_WHEN_FLOWING : IN_HAND_AT_FIRST) - attempting;
  const take = retrying >= RETRYING_PER_ENDPOINT ? 0 : Math.max(0, Math.min(waiting, BATCH_SIZE, room));
  return { endpointId, projectId, projectInHand, take };
}

/** Projects take turns: the first endpoint of each, then the second of each, so that one with many endpoints delays no other. */
function inTurns(wanted: readonly Wanted[]): Wanted[] {
  const turns = new Map<string, number>();
  const numbered = wanted.map((one) => {
    const turn = turns.get(one.projectId) ?? 0;
    turns.set(one.projectId, turn + 1);
    return { one, turn };
  });
  return numbered.toSorted((a, b) => a.turn - b.turn).map(({ one }) => one);
}

/**
 * Those that want little get it; the others a batch each in turn, until the room is used up. A project may have as much in
 * hand as it leaves free, so that hanging endpoints of one leave room for the others.
 */
function limit(wanted: readonly Wanted[], free: number): Wanted[] {
  let left = Math.min(free, TAKEN_PER_ROUND);
  const ofProjects = new Map<string, number>();
  const take = (one: Wanted): Wanted => {
    const { projectId, projectInHand } = one;
    const ofProject = ofProjects.get(projectId) ?? Math.max(0, Math.floor((free - projectInHand) / 2));
    const taken = Math.min(one.take, left, ofProject);
    left -= taken;
    ofProjects.set(projectId, ofProject - taken);
    return { ...one, take: taken };
  };
  const little = wanted.filter((one) => one.take < LITTLE_BELOW).map(take);
  const much = wanted.filter((one) => one.take >= LITTLE_BELOW).map(take);
  return [...little, ...much];
}

function intoBatches(wanted: readonly Wanted[]): Take[] {
  let shared: { batch: string; size: number } | undefined;
  return wanted.map(({ endpointId, take }) => {
    if (take >= OWN_BATCH_FROM) return { endpointId, take, batch: batchId() };
    if (shared === undefined || shared.size + take > BATCH_SIZE) shared = { batch: batchId(), size: 0 };
    shared.size += take;
    return { endpointId, take, batch: shared.batch };
  });
}

/** Sorts by time, and is no delivery's id. */
const batchId = () => newId('dlv').replace('dlv_', 'batch_');
